/** The scripted ACP agent. */

export { AcpAgent, startAcpAgent } from "./agent.ts";
export type { AcpAgentOptions, Ending as AcpAgentEnding } from "./agent.ts";
export { acpAgentCommand, writeAcpAgent } from "./command.ts";
export type { AcpAgentCommand, WrittenAcpAgent } from "./command.ts";
export { NOISE } from "./noise.ts";
export { readRecord as readAcpRecord, recorded as acpRecorded } from "./record.ts";
export type { Entry as AcpRecordEntry } from "./record.ts";
export type { Host as AcpAgentHost } from "./scene.ts";
export type {
  Answer as AcpAnswer,
  AuthScript as AcpAuthScript,
  ConfigOptionScript as AcpConfigOptionScript,
  Handling as AcpHandling,
  ModesScript as AcpModesScript,
  ProcessScript as AcpProcessScript,
  Script as AcpScript,
  Step as AcpStep,
  StoredSession as AcpStoredSession,
  Turn as AcpTurn,
  TurnScript as AcpTurnScript,
} from "./script.ts";
export type {
  ElicitStep as AcpElicitStep,
  GrandchildStep as AcpGrandchildStep,
  McpStep as AcpMcpStep,
  PermissionStep as AcpPermissionStep,
  Steps as AcpSteps,
  TerminalStep as AcpTerminalStep,
} from "./steps/steps.ts";
export { STABLE_UPDATES, UNKNOWN_UPDATES } from "./updates.ts";
export type { StableUpdateKind, Update as AcpUpdate } from "./updates.ts";
