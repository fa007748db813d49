/** Starts and ends child programs, and exchanges lines or JSON records with them. */
export {
  programFromCommand,
  startAgent,
  type AgentCommand,
  type AgentProcess,
  type CloseDeadlines,
  type ProgramExit,
} from "./agent-process.ts";
export { explainStartFailure } from "./start-failure.ts";
export { LineSplitter, type LineSink } from "./line-splitter.ts";
export { OwnedChild, streamEnded, type OwnedOptions } from "./owned-child.ts";
export { requireRunnable } from "./runnable.ts";
export { sanitizeTerminalText } from "./stderr-tail.ts";
export {
  DEFAULT_MAX_MESSAGE_BYTES,
  streamTransport,
  transportPair,
  type StreamTransportOptions,
  type Transport,
  type TransportSink,
} from "./transport.ts";
export { startPty } from "./pty.ts";
export { readRecords, type JsonRecord, type RecordOptions, type RecordSink } from "./records.ts";
export { quoteShellWord, formatShellCommand } from "./shell-command.ts";
