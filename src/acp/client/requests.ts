/** How a session answers what the agent asks: by a handler, by whoever reads it, or by refusing. */
import { deferred } from "../../stdx/index.ts";
import type { IncomingRequest } from "../connection/incoming.ts";
import { methodNotFound, requestCancelled } from "../errors.ts";
import type { Flow } from "./flow.ts";
import { handlerOf, type SessionOptions } from "./handlers.ts";
import type { RequestItem } from "./items.ts";

export interface Server {
  readonly sessionId: string;
  readonly options: SessionOptions;
  readonly flow: Flow;
  /** The updates that came before it and are not done with. */
  readonly before: () => Promise<void> | undefined;
  /** False until the session is set up: nobody has it to read, and the agent may wait for the answer. */
  readonly hasReader: boolean;
  /** Nobody serves it: it is for a reader. */
  readonly read: (item: RequestItem) => void;
}

/** What has a handler is started, and what has none is read, in the order in which it came. */
export async function serve(server: Server, request: IncomingRequest, signal: AbortSignal): Promise<unknown> {
  const { options, sessionId, flow } = server;
  const run = handlerOf(options, request);
  if (run === undefined) {
    if (options.unhandled !== "read" || !server.hasReader) throw methodNotFound(request.method);
    return readByHand(server, request, signal);
  }
  const before = server.before();
  if (before !== undefined) await flow.behind(before);
  if (signal.aborted) throw requestCancelled();
  return run({ sessionId, signal });
}

function readByHand({ read }: Server, request: IncomingRequest, signal: AbortSignal): Promise<unknown> {
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
