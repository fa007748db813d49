/** Model APIs. */
export * from "./model.ts";
export { openModel, type ProviderOptions } from "./open.ts";
