/** Names of the key variables and providers of the built-in agent. */
export { keyVariables, findMissingKey, findMissingSetup, parseModelName } from "../providers/endpoint.ts";
export { registerProviders, type RegisteredProviders } from "../providers/registered/register.ts";
export { DEMO_MODEL } from "../providers/demo/model.ts";
export { KNOWN_MODELS, knownPrice } from "../providers/prices.ts";
export { KNOWN_PROVIDERS } from "../providers/known.ts";
export { lookUpContextSize } from "../providers/sizes.ts";
