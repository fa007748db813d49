/** The tools of an agent: sources, plugins, filters and discovery. */
export { AgentTools, type AgentToolsOptions, type SavedTools } from "./agent-tools.ts";
export type { ToolSnapshot, CatalogKey, PreparedCall, RunnableCall, SettledCall } from "./snapshot.ts";
export { CALL_TOOL } from "./discovery.ts";
export { passesFilter, type ToolAnnotations, type ToolFilter, type ToolPattern } from "./filter.ts";
export type { PluginStates } from "./hooks.ts";
export type { BeforeCall, HookedCall, HookedTurn, OnNotice, Plugin, ToolNotice } from "./plugin.ts";
export { ToolResultSchema, toPlainJson } from "./tool-result.ts";
export { validateAskOptions, validatePreview, validateQuestion } from "./validate-source.ts";
export { readResultSource } from "./read-result.ts";
