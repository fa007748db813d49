/** Model APIs: finds a provider, streams replies, and knows prices and context sizes. */
export {
  findEndpoint,
  keyVariables,
  findMissingKey,
  findMissingSetup,
  parseModelName,
  type ConfiguredProvider,
  type ProviderOptions,
} from "./endpoint.ts";
export { KNOWN_PROVIDERS } from "./known.ts";
export { missingAttachmentText } from "./messages.ts";
export * from "./model.ts";
export { openModel } from "./open.ts";
export { computeCost, knownPrice, PRICES_AS_OF, type ModelPrice } from "./prices.ts";
export { ProviderError } from "./provider-error.ts";
