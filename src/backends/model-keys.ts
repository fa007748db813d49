/** Names of the key variables and providers of the built-in agent. */
export { keyVariables, findMissingKey, findMissingSetup, parseModelName } from "../providers/endpoint.ts";
export { KNOWN_MODELS, knownPrice } from "../providers/prices.ts";
export { KNOWN_PROVIDERS } from "../providers/known.ts";
export { lookUpContextSize } from "../providers/sizes.ts";
