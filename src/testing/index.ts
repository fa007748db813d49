/** The testing kit for code that embeds Rookery: scripted agents and models, temporary repositories, transcripts. */

export * from "./acp-agent/index.ts";
export { builtEnvironment } from "./environment.ts";
export type { BuiltEnvironmentOptions } from "./environment.ts";
export * from "./model-server/index.ts";
export { temporaryFolder, temporaryRepository } from "./repository.ts";
export type { TemporaryFolder, TemporaryRepository, TemporaryRepositoryOptions } from "./repository.ts";
export { collectEvents as collect, transcript } from "./transcript.ts";
export { sharedStoreContract, storeContract } from "../store/contract.ts";
