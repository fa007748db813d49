/** Shared parts of the backends that run a program. */
export { programBackend, type ProgramOptions } from "./conversation.ts";
export {
  SessionLost,
  type How,
  type LiveProgram,
  type Program,
  type ProgramTurn,
  type ReachableServer,
  type Start,
} from "./live.ts";
export { promptText, type PromptPart } from "./prompt.ts";
export { Telling, type ToolEnd, type ToolStart } from "./telling.ts";
