/** What can go wrong between two peers: an answer that is an error, and an end of the connection. */
import type { ProgramExit } from "../programs/index.ts";
import type { RpcErrorObject } from "./wire/message.ts";

/** The codes of JSON-RPC and of ACP. */
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

/** The peer's answer is an error. Thrown by a handler, it is answered as it is, with every field it has. */
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

/** How a process ended that was the other side of a connection. */
export type PeerExit = ProgramExit;

export type ConnectionEnd = "closed" | "eof" | "broken";

/** There will be no answer: the connection ended. */
export class ConnectionClosed extends Error {
  readonly end: ConnectionEnd;
  /** Known where the peer was a process. */
  readonly exit: PeerExit | undefined;

  constructor(end: ConnectionEnd, peer: string, options: { exit?: PeerExit | undefined; cause?: unknown } = {}) {
    super(endText(end, peer, options.exit, options.cause), { cause: options.cause });
    this.name = "ConnectionClosed";
    this.end = end;
    this.exit = options.exit;
  }
}

/** A message was longer than the limit; only the request that it belongs to fails. */
export class MessageTooLarge extends Error {
  readonly bytes: number;

  constructor(what: string, bytes: number) {
    super(`${what} had ${bytes} bytes, which is more than the connection takes`);
    this.name = "MessageTooLarge";
    this.bytes = bytes;
  }
}

/** The peer does not read, and what waits for it has reached the limit. */
export class PeerNotReading extends Error {
  constructor(peer: string, bytes: number) {
    super(`${peer} does not read: ${bytes} bytes wait for it`);
    this.name = "PeerNotReading";
  }
}

function endText(end: ConnectionEnd, peer: string, exit: PeerExit | undefined, cause: unknown): string {
  if (exit !== undefined) {
    const how = exit.signal === null ? `exit code ${exit.exitCode ?? "unknown"}` : `signal ${exit.signal}`;
    const said = exit.stderr.trim();
    return `${peer} ended (${how})${said === "" ? "" : `; it said last: ${said}`}`;
  }
  if (end === "closed") return `the connection to ${peer} was closed`;
  if (end === "eof") return `${peer} ended the connection`;
  return `the connection to ${peer} broke: ${cause instanceof Error ? cause.message : String(cause)}`;
}
