/**
 * Passes a request on and its answer back through a handler that may change both, and keeps the order of both sides.
 */
import { deferred, type Deferred } from "../../stdx/index.ts";
import { Verbatim, type IncomingRequest } from "../connection/incoming.ts";
import { requestCancelled } from "../errors.ts";
import { withParams } from "./passed-message.ts";
import type { Port } from "./port.ts";

export interface ProxiedRequest extends IncomingRequest {
  /**
   * Sends the request on, unchanged or with other params. Rejects if the other side is gone; its error responses are
   * resolved.
   */
  forward(params?: unknown): Promise<Verbatim>;
  /** Unblocks the messages that follow this request before it is sent on. */
  goOn(): void;
}

/** The return value is the answer. A result of `forward` is passed back as it came. */
export type ProxyHandler = (request: ProxiedRequest) => unknown;

/** Passes request and response on unchanged. The response is sent before anything that follows it. */
export async function passThrough(request: IncomingRequest, to: Port): Promise<unknown> {
  return to.forward(request, {
    signal: request.signal,
    apart: true,
    onResponse: (response) => request.respond(response),
  });
}

/**
 * Messages behind the request wait until it is sent on; messages behind the answer wait until the handler is done. A
 * handler that calls `forward` again unblocks them until that answer arrives.
 */
export async function relay(request: IncomingRequest, to: Port, handler: ProxyHandler): Promise<unknown> {
  const sent = deferred();
  let holding: Deferred<void> | undefined;
  const releaseHold = (): void => holding?.resolve();
  const forward = async (params: unknown = request.params): Promise<Verbatim> => {
    if (request.signal.aborted) throw requestCancelled(); // nobody waits for it
    releaseHold();
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
    releaseHold();
  }
  return undefined; // the request is already answered
}
