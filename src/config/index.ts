/** Configuration and trust of a working directory. */
export type { AgentConfig } from "./agent.ts";
export { codexKeyVariables } from "./codex-keys.ts";
export { homeFolder, userConfigFile } from "./home.ts";
export {
  type Config,
  keyVariableNames,
  loadConfig,
  type LoadOptions,
  type PriceConfig,
  type ProviderConfig,
  resolveAgent,
  userDefaults,
  type WorktreeConfig,
} from "./load.ts";
export { readInstructions, type Instructions } from "./instructions.ts";
export { didYouMean, nearest } from "./nearest.ts";
export { repositoryRoot } from "./root.ts";
export { readStoreConfig, type StoreConfig } from "./store-config.ts";
export type { StageTable, ConfiguredToolPattern } from "./schema.ts";
export { requireTrust, trust, trustState, type TrustState } from "./trust.ts";
