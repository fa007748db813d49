/** Answers a session's requests: with a handler, through its reader, or with a refusal. */
import { deferred } from "../../../stdx/index.ts";
import type { IncomingRequest } from "../../connection/incoming.ts";
import { methodNotFound, requestCancelled } from "../../errors.ts";
import type { Backpressure } from "../buffer/backpressure.ts";
import { findSessionHandler, type SessionOptions } from "../session-handlers.ts";
import type { RequestItem } from "../session-items.ts";

export interface RequestServing {
  readonly sessionId: string;
  readonly options: SessionOptions;
  readonly backpressure: Backpressure;
  /** The updates that arrived before the request and are not handled yet. */
  readonly updatesBefore: () => Promise<void> | undefined;
  /** False until the session is set up: nobody can read a request yet, and the agent may wait for its answer. */
  readonly hasReader: boolean;
  /** Passes a request without a handler to the reader. */
  readonly passItem: (item: RequestItem) => void;
}

/** Starts handlers and passes items to the reader in the order of arrival. */
export async function serveSessionRequest(
  server: RequestServing,
  request: IncomingRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { options, sessionId, backpressure } = server;
  const run = findSessionHandler(options, request);
  if (run === undefined) {
    if (options.unhandled !== "read" || !server.hasReader) throw methodNotFound(request.method);
    return passToReader(server, request, signal);
  }
  const before = server.updatesBefore();
  if (before !== undefined) await backpressure.waitBehind(before);
  if (signal.aborted) throw requestCancelled();
  return run({ sessionId, signal });
}

function passToReader({ passItem }: RequestServing, request: IncomingRequest, signal: AbortSignal): Promise<unknown> {
  const answer = deferred<unknown>();
  const cancel = (): void => answer.reject(requestCancelled());
  signal.addEventListener("abort", cancel, { once: true });
  passItem({
    kind: "request",
    request,
    signal,
    respond: (result) => answer.resolve(result),
    fail: (error) => answer.reject(error),
  });
  return answer.promise;
}
