/** The built-in agent. */
export { openBuiltIn, systemPrompt, type BuiltIn } from "./open.ts";
export type { Price } from "./price.ts";
export { codingTools } from "./tools/index.ts";
