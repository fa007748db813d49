/** What the built-in agent needs before it can use a model. */
export { keyVariables, missingFor, parseModelName } from "../providers/endpoint.ts";
export { KNOWN_PROVIDERS } from "../providers/known.ts";
