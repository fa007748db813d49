/** The messages of JSON-RPC 2.0, as they are on the wire: whatever else they carry is left in them. */
import { valueText } from "./scan.ts";

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

export type Classified =
  | { readonly kind: "request"; readonly message: RpcRequest }
  | { readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly kind: "response"; readonly message: RpcResponse }
  /** JSON, and no message of the protocol. */
  | { readonly kind: "invalid"; readonly id: RequestId; readonly why: string }
  /** Not even JSON. */
  | { readonly kind: "noise" };

const NOISE: Classified = { kind: "noise" };

/** Colours, titles and returns to the start of the line, which programs leave before a message on the same line. */
const TERMINAL_CODES = /^(?:\u001B\[[\d;?]*[A-Za-z]|\u001B\][^\u0007\u001B]{0,1000}(?:\u0007|\u001B\\)|\r)+(?=\{)/;

export function classify(line: string): Classified {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    const codes = TERMINAL_CODES.exec(line)?.[0] ?? "";
    return codes === "" ? NOISE : classify(line.slice(codes.length));
  }
  if (Array.isArray(value)) return invalid(null, "a batch is not part of the protocol");
  if (typeof value !== "object" || value === null) return invalid(null, "a message is an object");
  const { id, method } = value as { id?: unknown; method?: unknown };
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", message: value as RpcNotification };
    if (isRequestId(id)) return { kind: "request", message: value as RpcRequest };
    return invalid(null, "an id is a string, a number or null");
  }
  if (method !== undefined) return invalid(isRequestId(id) ? id : null, "a method is a string");
  if (!isRequestId(id)) return invalid(null, "a message has a method or an id");
  return { kind: "response", message: value as RpcResponse }; // however broken it is, someone waits for it
}

/** How an update begins as every SDK writes it. */
const UPDATE = '{"jsonrpc":"2.0","method":"session/update","params":{';

/**
 * For whoever passes updates on unread: tells one by its ends, and reads the rest of it only when it is asked for. What
 * is broken in it goes on broken, to who reads it.
 */
export function glance(line: string): Classified {
  if (!line.startsWith(UPDATE) || !line.endsWith("}}")) return classify(line);
  return { kind: "notification", message: new UnreadUpdate(line) };
}

export class UnreadUpdate implements RpcNotification {
  readonly method = "session/update";
  readonly line: string;
  #params: unknown;

  constructor(line: string) {
    this.line = line;
  }

  get params(): unknown {
    this.#params ??= paramsOf(this.line);
    return this.#params;
  }
}

function paramsOf(line: string): unknown {
  const read = classify(line);
  return read.kind === "notification" ? read.message.params : null;
}

/** Such as it was written: a number that JavaScript cannot hold must come back as it was. */
export function idText(id: RequestId, text: string, key = "id"): string {
  if (typeof id !== "number" || Number.isSafeInteger(id)) return JSON.stringify(id);
  return valueText(text, key) ?? JSON.stringify(id);
}

/** The id that a `$/cancel_request` names, such as it was written. */
export function cancelledIdText(params: unknown, line: string): string | undefined {
  const id = (params as { requestId?: unknown } | null | undefined)?.requestId;
  return isRequestId(id) ? idText(id, valueText(line, "params") ?? "", "requestId") : undefined;
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number" || id === null;
}

function invalid(id: RequestId, why: string): Classified {
  return { kind: "invalid", id, why };
}
