/** Model APIs. */
export {
  findEndpoint,
  keyVariables,
  missingFor,
  parseModelName,
  type ConfiguredProvider,
  type ProviderOptions,
} from "./endpoint.ts";
export { KNOWN_PROVIDERS } from "./known.ts";
export { notGiven } from "./messages.ts";
export * from "./model.ts";
export { openModel } from "./open.ts";
export { costOf, knownPrice, PRICES_AS_OF, type Price } from "./prices.ts";
export { ProviderError } from "./provider-error.ts";
