/** The built-in agent. */
export { codeIsOff, codeTool, type CodeLimits } from "./code/index.ts";
export { openBuiltIn, systemPrompt, type BuiltIn } from "./open.ts";
export { subagentTools, type Subagents } from "./subagents/index.ts";
export { usageEvent, type ModelPrice } from "./price.ts";
export { codingTools } from "./tools/index.ts";
export { RETRY_LIMITS } from "./retry.ts";
