/** Starts and ends child programs, and exchanges lines or JSON records with them. */
export {
  programOf,
  startAgent,
  type AgentCommand,
  type AgentProcess,
  type CloseDeadlines,
  type ProgramExit,
} from "./agent.ts";
export { startFailure } from "./failure.ts";
export { LineSplitter, type LineSink } from "./lines.ts";
export { OwnedChild, streamEnded, type OwnedOptions } from "./owned.ts";
export { mustRun } from "./runnable.ts";
export { harmless } from "./stderr.ts";
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
export { quotedWord, typed } from "./typed.ts";
