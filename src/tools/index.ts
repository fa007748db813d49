/** What an agent can do. */
export { AgentTools, type AgentToolsOptions, type SavedTools } from "./agent-tools.ts";
export type { Artifact, CatalogKey, PreparedCall, RunnableCall, SettledCall } from "./artifact.ts";
export { CALL } from "./discovery.ts";
export { passes, type ToolAnnotations, type ToolFilter, type ToolPattern } from "./filter.ts";
export type { PluginStates } from "./hooks.ts";
export type { BeforeCall, HookedCall, HookedTurn, OnNotice, Plugin, ToolNotice } from "./plugin.ts";
export { Result } from "./result.ts";
export { resultsSource } from "./results.ts";
