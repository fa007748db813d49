/** How a session answers what the agent asks: by a handler, by whoever reads it, or by refusing. */
import { deferred } from "../../../stdx/index.ts";
import type { IncomingRequest } from "../../connection/incoming.ts";
import { methodNotFound, requestCancelled } from "../../errors.ts";
import type { Backpressure } from "../buffer/backpressure.ts";
import { findSessionHandler, type SessionOptions } from "../session-handlers.ts";
import type { RequestItem } from "../session-items.ts";

export interface RequestServing {
  readonly sessionId: string;
  readonly options: SessionOptions;
  readonly flow: Backpressure;
  /** The updates that came before it and are not done with. */
  readonly updatesBefore: () => Promise<void> | undefined;
  /** False until the session is set up: nobody has it to read, and the agent may wait for the answer. */
  readonly hasReader: boolean;
  /** Nobody serves it: it is for a reader. */
  readonly passItem: (item: RequestItem) => void;
}

/** What has a handler is started, and what has none is read, in the order in which it came. */
export async function serveSessionRequest(
  server: RequestServing,
  request: IncomingRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { options, sessionId, flow } = server;
  const run = findSessionHandler(options, request);
  if (run === undefined) {
    if (options.unhandled !== "read" || !server.hasReader) throw methodNotFound(request.method);
    return passToReader(server, request, signal);
  }
  const before = server.updatesBefore();
  if (before !== undefined) await flow.waitBehind(before);
  if (signal.aborted) throw requestCancelled();
  return run({ sessionId, signal });
}

function passToReader(
  { passItem: read }: RequestServing,
  request: IncomingRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = deferred<unknown>();
  const cancel = (): void => answer.reject(requestCancelled());
  signal.addEventListener("abort", cancel, { once: true });
  read({
    kind: "request",
    request,
    signal,
    respond: (result) => answer.resolve(result),
    fail: (error) => answer.reject(error),
  });
  return answer.promise;
}
