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
export { ProviderError } from "../domain/provider-error.ts";
export { registerProviders, type RegisteredProviders } from "./registered/register.ts";
export { KNOWN_PROVIDERS } from "./known.ts";
export { missingAttachmentText } from "./messages.ts";
export * from "../domain/model.ts";
export { openModel, openNamedModel } from "./open.ts";
export { computeCost, knownPrice, PRICES_AS_OF } from "./prices.ts";
