/** Passes a request on and its answer back, with someone in between who may change either, and keeps the order of both sides. */
import { deferred, type Deferred } from "../../stdx/index.ts";
import { Verbatim, type IncomingRequest } from "../connection/incoming.ts";
import { requestCancelled } from "../errors.ts";
import { withParams } from "./passed-message.ts";
import type { Port } from "./port.ts";

export interface ProxiedRequest extends IncomingRequest {
  /** Sends it on, as it came or with other params. Rejects where the other side is gone; its errors are answers. */
  forward(params?: unknown): Promise<Verbatim>;
  /** What follows this request waits until it was sent on; this lets it come at once. */
  goOn(): void;
}

/** Answers with what it returns; what `forward` gave is passed back as it came. */
export type ProxyHandler = (request: ProxiedRequest) => unknown;

/** As it came, both ways: the answer is on its way before anything that follows it. */
export async function passThrough(request: IncomingRequest, to: Port): Promise<unknown> {
  return to.forward(request, {
    signal: request.signal,
    apart: true,
    onResponse: (response) => request.respond(response),
  });
}

/**
 * What follows the request waits until it was sent on, and what follows the answer until the handler is done with it.
 * A handler that asks the other side again lets it go on meanwhile.
 */
export async function relay(request: IncomingRequest, to: Port, handler: ProxyHandler): Promise<unknown> {
  const sent = deferred();
  let holding: Deferred<void> | undefined;
  const letGo = (): void => holding?.resolve();
  const forward = async (params: unknown = request.params): Promise<Verbatim> => {
    if (request.signal.aborted) throw requestCancelled(); // nobody waits for it
    letGo();
    const mine = deferred();
    const response = to.forward(withParams(request, params), {
      signal: request.signal,
      apart: true,
      onResponse: () => {
        holding = mine;
        return mine.promise;
      },
    });
    sent.resolve();
    return response;
  };
  const run = async (): Promise<unknown> => handler({ ...request, forward, goOn: () => sent.resolve() });
  const done = run();
  request.hold(Promise.race([sent.promise, done]).catch(() => undefined));
  try {
    request.respond(await done);
  } catch (error) {
    request.fail(error);
  } finally {
    letGo();
  }
  return undefined; // it is answered
}
