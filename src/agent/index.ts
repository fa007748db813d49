/** The built-in agent. */
export { describeDisabledCode, createCodeTool, type CodeLimits } from "./code/index.ts";
export { openBuiltInAgent, createSystemPrompt } from "./built-in-agent.ts";
export type { BuiltInAgentOptions } from "./turn-agent.ts";
export { createSubagentTools, type Subagents } from "./subagents/index.ts";
export { createUsageEvent, type ModelPrice } from "./usage-event.ts";
export { createCodingTools } from "./tools/index.ts";
export { RETRY_LIMITS } from "./retry.ts";
