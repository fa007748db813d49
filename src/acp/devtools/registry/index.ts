/** The agent registry: resolves an id to a command. */
export { builtinRegistry } from "./builtin.ts";
export { resolveLaunch, type Launch, type LaunchOptions } from "./launch.ts";
export { parseRegistry, type RegistryAgent, type RegistryIndex } from "./schema.ts";
