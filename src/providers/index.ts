/** Model APIs. */
export { notGiven } from "./messages.ts";
export * from "./model.ts";
export { openModel, type ProviderOptions } from "./open.ts";
