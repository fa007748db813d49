/** The messages of JSON-RPC 2.0 as they are on the wire. Unknown fields are kept. */
import { findValueText } from "./scan.ts";

export type RequestId = string | number | null;

export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params?: unknown;
}

export interface RpcNotification {
  readonly method: string;
  readonly params?: unknown;
}

export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RpcResponse {
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: RpcErrorObject | null;
}

export type ClassifiedLine =
  | { readonly kind: "request"; readonly message: RpcRequest }
  | { readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly kind: "response"; readonly message: RpcResponse }
  /** JSON, but not a message of the protocol. */
  | { readonly kind: "invalid"; readonly id: RequestId; readonly why: string }
  /** Not JSON. */
  | { readonly kind: "noise" };

const NOISE: ClassifiedLine = { kind: "noise" };

/** Colors, titles and carriage returns that programs print before a message on the same line. */
const TERMINAL_CODES = /^(?:\u001B\[[\d;?]*[A-Za-z]|\u001B\][^\u0007\u001B]{0,1000}(?:\u0007|\u001B\\)|\r)+(?=\{)/;

export function classifyLine(line: string): ClassifiedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    const codes = TERMINAL_CODES.exec(line)?.[0] ?? "";
    return codes === "" ? NOISE : classifyLine(line.slice(codes.length));
  }
  if (Array.isArray(value)) return invalidLine(null, "a batch is not part of the protocol");
  if (typeof value !== "object" || value === null) return invalidLine(null, "a message must be an object");
  const { id, method } = value as { id?: unknown; method?: unknown };
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", message: value as RpcNotification };
    if (isRequestId(id)) return { kind: "request", message: value as RpcRequest };
    return invalidLine(null, "an id must be a string, a number or null");
  }
  if (method !== undefined) return invalidLine(isRequestId(id) ? id : null, "a method must be a string");
  if (!isRequestId(id)) return invalidLine(null, "a message must have a method or an id");
  return { kind: "response", message: value as RpcResponse }; // even if it is malformed, because someone waits for it
}

/** The beginning of an update as every SDK writes it. */
const UPDATE = '{"jsonrpc":"2.0","method":"session/update","params":{';

/**
 * For a proxy that passes updates on unread: recognizes an update by its beginning and end, and parses it only on
 * access. A malformed update is passed on as it is.
 */
export function classifyLazily(line: string): ClassifiedLine {
  if (!line.startsWith(UPDATE) || !line.endsWith("}}")) return classifyLine(line);
  return { kind: "notification", message: new LazyUpdate(line) };
}

export class LazyUpdate implements RpcNotification {
  readonly method = "session/update";
  readonly line: string;
  #params: unknown;

  constructor(line: string) {
    this.line = line;
  }

  get params(): unknown {
    this.#params ??= readParams(this.line);
    return this.#params;
  }
}

function readParams(line: string): unknown {
  const read = classifyLine(line);
  return read.kind === "notification" ? read.message.params : null;
}

/** The id as it was written: a number beyond JavaScript's range must be returned unchanged. */
export function formatRequestId(id: RequestId, text: string, key = "id"): string {
  if (typeof id !== "number" || Number.isSafeInteger(id)) return JSON.stringify(id);
  return findValueText(text, key) ?? JSON.stringify(id);
}

/** The id in a `$/cancel_request`, as it was written. */
export function formatCancelledId(params: unknown, line: string): string | undefined {
  const id = (params as { requestId?: unknown } | null | undefined)?.requestId;
  return isRequestId(id) ? formatRequestId(id, findValueText(line, "params") ?? "", "requestId") : undefined;
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number" || id === null;
}

function invalidLine(id: RequestId, why: string): ClassifiedLine {
  return { kind: "invalid", id, why };
}
