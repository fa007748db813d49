/** The scripted ACP agent. */

export { AcpAgent, startAcpAgent, type AcpAgentOptions, type AcpAgentEnding } from "./agent.ts";
export { acpAgentCommand, writeAcpAgent, type AcpAgentCommand, type WrittenAcpAgent } from "./command.ts";
export { NOISE } from "./noise.ts";
export { readAcpRecord, acpRecorded, type AcpRecordEntry } from "./record.ts";
export type { AcpAgentHost } from "./step-context.ts";
export type {
  AcpAnswer,
  AcpAuthScript,
  AcpConfigOptionScript,
  AcpHandling,
  AcpModesScript,
  AcpProcessScript,
  AcpScript,
  AcpStoredSession,
  AcpTurn,
  AcpTurnScript,
} from "./script.ts";
export type {
  AcpStep,
  AcpElicitStep,
  AcpGrandchildStep,
  AcpMcpStep,
  AcpPermissionStep,
  AcpSteps,
  AcpTerminalStep,
} from "./steps/steps.ts";
export { STABLE_UPDATES, UNKNOWN_UPDATES, type StableUpdateKind, type AcpUpdate } from "./updates.ts";
