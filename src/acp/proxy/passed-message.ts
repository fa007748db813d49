/** A message that passes through. Its text is kept, except for the parts that a handler changes. */
import { invalidParams } from "../errors.ts";
import { findTopLevelSpans, replaceValue } from "../wire/scan.ts";

export interface PassedMessage {
  readonly method: string;
  readonly params: unknown;
  readonly line: string;
}

/** Returns the message with other params; all other fields are kept. */
export function withParams<Message extends PassedMessage>(message: Message, params: unknown): Message {
  if (params === message.params) return message;
  const text = JSON.stringify(params);
  const line = replaceValue(message.line, "params", text) ?? message.line.replace(/\}\s*$/, `,"params":${text}}`);
  return { ...message, params, line };
}

/** Returns the message with another method. */
export function withMethod<Message extends PassedMessage>(message: Message, method: string): Message {
  return { ...message, method, line: replaceValue(message.line, "method", JSON.stringify(method)) ?? message.line };
}

/** Wraps a message for the conductor, with its params unchanged. */
export function wrapMessage({ method, line }: PassedMessage, envelope: string, isRequest: boolean): string {
  const span = findTopLevelSpans(line).get("params");
  const params = span === undefined ? "" : `,"params":${line.slice(span.start, span.end)}`;
  const id = isRequest ? `"id":0,` : ""; // the connection replaces it
  return `{"jsonrpc":"2.0",${id}"method":${JSON.stringify(envelope)},"params":{"method":${JSON.stringify(method)}${params}}}`;
}

/** Unwraps a request. Throws -32602 if the envelope contains none. */
export function unwrapRequest<Message extends PassedMessage>(request: Message): Message {
  const inner = unwrapMessage(request);
  if (inner === undefined) throw invalidParams(`${request.method} contains no message`);
  return inner;
}

const CANCEL_METHOD = "$/cancel_request";

/** Unwraps a message. Undefined if the envelope contains none, or a cancel: the id in it belongs to another hop. */
export function unwrapMessage<Message extends PassedMessage>(message: Message): Message | undefined {
  const inner = message.params as { method?: unknown; params?: unknown } | null | undefined;
  if (typeof inner !== "object" || inner === null || typeof inner.method !== "string") return undefined;
  if (inner.method === CANCEL_METHOD) return undefined;
  const outer = findTopLevelSpans(message.line).get("params");
  if (outer === undefined) return undefined;
  const envelope = message.line.slice(outer.start, outer.end);
  const span = findTopLevelSpans(envelope).get("params");
  const text = span === undefined ? undefined : envelope.slice(span.start, span.end);
  const params = text === undefined || text === "null" ? "" : `,"params":${text}`;
  const id = "id" in message ? `"id":0,` : "";
  const line = `{"jsonrpc":"2.0",${id}"method":${JSON.stringify(inner.method)}${params}}`;
  return { ...message, method: inner.method, params: inner.params ?? undefined, line };
}
