/** The registry of agents: from an id to what is to be started. */
export { builtinRegistry } from "./builtin.ts";
export { resolveLaunch, type Launch, type LaunchOptions } from "./launch.ts";
export { parseRegistry, type RegistryAgent, type RegistryIndex } from "./schema.ts";
