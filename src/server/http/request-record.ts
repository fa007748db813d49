/** Logs and counts each request. Omits the query, the headers and the body, which may hold secrets. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Metrics } from "./metrics.ts";

export type WriteLogLine = (line: string) => void;

export interface RequestRecord {
  readonly requestId: string;
  /** The path pattern of the matching route. */
  route: string | undefined;
  /** The error for the server's log, which the client does not see. */
  error: string | undefined;
}

const MAX_LOGGED_PATH = 300;
const METHODS = ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"];

/** Starts a record, which is logged and counted when the response is sent or the client disconnects. */
export function recordRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { log, metrics }: { readonly log: WriteLogLine; readonly metrics: Metrics },
): RequestRecord {
  const started = performance.now();
  const record: RequestRecord = { requestId: randomBytes(8).toString("hex"), route: undefined, error: undefined };
  response.setHeader("x-request-id", record.requestId);
  response.once("close", () => {
    const ms = performance.now() - started;
    const { method = "" } = request;
    const status = response.headersSent ? response.statusCode : 499; // like nginx: the client closed the connection
    metrics.countRequest(METHODS.includes(method) ? method : "other", record.route ?? "none", status, ms / 1000);
    const { requestId, error } = record;
    const path = requestPath(request).slice(0, MAX_LOGGED_PATH);
    writeLogEntry(log, { method, path, status, ms: Math.round(ms), requestId, ...(error !== undefined && { error }) });
  });
  return record;
}

export function writeLogEntry(log: WriteLogLine, fields: Readonly<Record<string, unknown>>): void {
  log(JSON.stringify({ at: new Date().toISOString(), ...fields }));
}

/** The request path as sent, without the query. */
export function requestPath({ url = "" }: IncomingMessage): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}
