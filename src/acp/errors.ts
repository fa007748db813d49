/** Errors between two peers: error responses, and the end of the connection. */
import type { ProgramExit } from "../programs/index.ts";
import type { RpcErrorObject } from "./wire/message.ts";

/** Error codes of JSON-RPC and ACP. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

/** The peer answered with an error. If a handler throws it, it is sent as it is, with all of its fields. */
export class PeerError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** As it was on the wire. */
  readonly raw: RpcErrorObject;

  constructor(raw: RpcErrorObject) {
    super(raw.message);
    this.name = "PeerError";
    this.code = raw.code;
    this.data = raw.data;
    this.raw = raw;
  }
}

export function peerError(code: number, message: string, data?: unknown): PeerError {
  return new PeerError({ code, message, ...(data !== undefined && { data }) });
}

export const methodNotFound = (method: string): PeerError =>
  peerError(RPC.methodNotFound, `there is no method ${method}`, { method });
export const invalidParams = (why: string): PeerError => peerError(RPC.invalidParams, why);
export const notFound = (what: string): PeerError => peerError(RPC.notFound, `${what} was not found`);
export const requestCancelled = (): PeerError => peerError(RPC.cancelled, "the request was cancelled");

/** How the process on the other side of a connection ended. */
export type PeerExit = ProgramExit;

export type ConnectionEnd = "closed" | "eof" | "broken";

/** The connection ended, so there will be no answer. */
export class ConnectionClosed extends Error {
  readonly end: ConnectionEnd;
  /** Set if the peer was a process. */
  readonly exit: PeerExit | undefined;

  constructor(end: ConnectionEnd, peer: string, options: { exit?: PeerExit | undefined; cause?: unknown } = {}) {
    super(endText(end, peer, options.exit, options.cause), { cause: options.cause });
    this.name = "ConnectionClosed";
    this.end = end;
    this.exit = options.exit;
  }
}

/** A message exceeded the size limit. Only the request that it belongs to fails. */
export class MessageTooLarge extends Error {
  readonly bytes: number;

  constructor(what: string, bytes: number) {
    super(`${what} had ${bytes} bytes, which exceeds the limit of the connection`);
    this.name = "MessageTooLarge";
    this.bytes = bytes;
  }
}

/** The peer does not read, and the send queue has reached its limit. */
export class PeerNotReading extends Error {
  constructor(peer: string, bytes: number) {
    super(`${peer} is not reading: ${bytes} bytes are queued for it`);
    this.name = "PeerNotReading";
  }
}

function endText(end: ConnectionEnd, peer: string, exit: PeerExit | undefined, cause: unknown): string {
  if (exit !== undefined) {
    const how = exit.signal === null ? `exit code ${exit.exitCode ?? "unknown"}` : `signal ${exit.signal}`;
    const lastOutput = exit.stderr.trim();
    return `${peer} ended (${how})${lastOutput === "" ? "" : `; its last output: ${lastOutput}`}`;
  }
  if (end === "closed") return `the connection to ${peer} was closed`;
  if (end === "eof") return `${peer} closed the connection`;
  return `the connection to ${peer} broke: ${cause instanceof Error ? cause.message : String(cause)}`;
}
