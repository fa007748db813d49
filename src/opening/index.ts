/** Finds, configures and opens the agent of a session. */
export { createAgentPreparer } from "./prepare.ts";
export { requireFolder } from "./resolve.ts";
export type { AgentOverrides, PluginSession, SharedServices } from "./services.ts";
