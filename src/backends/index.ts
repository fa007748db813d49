/** The backends: adapters that drive each kind of agent. */
export { acpBackend, type AcpBackendOptions } from "./acp/backend.ts";
export type { AgentResources } from "./equipment.ts";
export { keyVariables } from "./model-keys.ts";
export { assertRecordedProvider } from "./recorded-provider.ts";
export { toolsOnlyBackend } from "./tools-only.ts";
export { apiBackend, type ApiBackendOptions } from "./api.ts";
export { claudeBackend } from "./claude/index.ts";
export { codexBackend } from "./codex/index.ts";
export { commandBackend } from "./command/index.ts";
export { agentProgramFamily } from "./program-family.ts";
export { geminiBackend } from "./gemini/index.ts";
export { findProgram, isProgramKind, type ProgramLookup } from "./locate.ts";
export { opencodeBackend } from "./opencode/index.ts";
