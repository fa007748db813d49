/** Shared parts of the backends that run a program. */
export { openProgram, programBackend, type ProgramOptions } from "./program-backend.ts";
export { hasToolsToOffer, type ProgramServers } from "./program-servers.ts";
export {
  SessionLost,
  type NativeSession,
  type NativeSessionOrigin,
  type LiveProgram,
  type AgentProgram,
  type ProgramTurn,
  type ReachableServer,
  type ProgramStart,
} from "./agent-program.ts";
export { toOfferedCommands, type ReportedCommand } from "./offered-commands.ts";
export { promptText, type PromptPart } from "./prompt.ts";
export { TurnRecorder, type ToolEnd, type ToolStart } from "./turn-recorder.ts";
