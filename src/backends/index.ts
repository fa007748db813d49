/**
 * Facts about backends that are needed before one is used. The backends themselves, adapters that drive each kind of
 * agent, are imported when an agent is opened: see `opening/backend.ts`.
 */
export type { AgentResources } from "./equipment.ts";
export { keyVariables, registerProviders, type RegisteredProviders } from "./model-keys.ts";
export { assertRecordedProvider } from "./recorded-provider.ts";
export { registerBackends, requireRegistered, type RegisteredBackends } from "./registered/register.ts";
export { agentProgramFamily } from "./program-family.ts";
export { withReadyDefault } from "./readiness.ts";
export { findProgram, isProgramKind, type ProgramLookup } from "./locate.ts";
