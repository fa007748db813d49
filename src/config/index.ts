/** Configuration and trust of a working directory. */
export type { AgentConfig } from "./agent.ts";
export { findAgentOfBackend } from "./agent-of-backend.ts";
export { codexKeyVariables } from "./codex-keys.ts";
export { completeDefinition, configureDefinition } from "./defined-agent.ts";
export { environmentOfHome, homeFolder, userConfigFile } from "./home.ts";
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
export {
  readMachineConfig,
  type HostConfig,
  type LeaseConfig,
  type MachineConfig,
  type WorkerConfig,
} from "./host-config.ts";
export { requireOwnFolders } from "./own-folders.ts";
export { readInstructions, type Instructions } from "./instructions.ts";
export { didYouMean, nearest } from "./nearest.ts";
export { repositoryRoot } from "./root.ts";
export { commandChildEnvironment, withoutOwnCredentials } from "./own-credentials.ts";
export { readBlobsConfig, type BlobsConfig } from "./blobs-config.ts";
export { readStoreConfig, type StoreConfig } from "./store-config.ts";
export type { ConfiguredToolPattern } from "../domain/agent-table.ts";
export type { StageTable } from "./schema.ts";
export { copyTrust, requireTrust, trust, trustState, type TrustState } from "./trust.ts";
