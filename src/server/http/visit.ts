/** A request as the log and the metrics have it: without its query, its headers and its body, which may hold secrets. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Metrics } from "./metrics.ts";

export type Log = (line: string) => void;

export interface Visit {
  readonly requestId: string;
  /** The row of the table, once it is found. */
  route: string | undefined;
  /** What only the server's owner is told. */
  error: string | undefined;
}

const LONGEST_PATH = 300;
const METHODS = ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"];

/** Is written down when its answer is out, or its caller is gone. */
export function beginVisit(
  request: IncomingMessage,
  response: ServerResponse,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): Visit {
  const started = performance.now();
  const visit: Visit = { requestId: randomBytes(8).toString("hex"), route: undefined, error: undefined };
  response.setHeader("x-request-id", visit.requestId);
  response.once("close", () => {
    const ms = performance.now() - started;
    const { method = "" } = request;
    const status = response.headersSent ? response.statusCode : 499; // as nginx says: the caller did not wait
    metrics.counted(METHODS.includes(method) ? method : "other", visit.route ?? "none", status, ms / 1000);
    const { requestId, error } = visit;
    const path = pathOf(request).slice(0, LONGEST_PATH);
    writeLine(log, { method, path, status, ms: Math.round(ms), requestId, ...(error !== undefined && { error }) });
  });
  return visit;
}

export function writeLine(log: Log, fields: Readonly<Record<string, unknown>>): void {
  log(JSON.stringify({ at: new Date().toISOString(), ...fields }));
}

/** As it was sent, without the query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}
