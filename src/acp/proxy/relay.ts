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

/**
 * Calls `deliver` when the messages before the response have been passed on. What `deliver` returns blocks the messages
 * behind it. Returns what the connection has to wait for.
 */
export type OrderAnswer = (response: Verbatim, deliver: () => unknown) => unknown;

/** Blocks the whole connection until the response is delivered. */
const orderByConnection: OrderAnswer = (_response, deliver) => deliver();

export interface RelayedRequest {
  /** Settles when the messages that follow may be sent. Undefined if they already may. Never rejects. */
  readonly sent: Promise<unknown> | undefined;
  readonly done: Promise<unknown>;
}

/** What the proxy's own code needs besides. */
export interface RelayContext extends ProxiedRequest {
  /** While this answer of the other side is due, a cancelled request waits for it. */
  track<T>(answer: Promise<T>): Promise<T>;
  /** The request is answered when this settles, behind messages that go first. What the handler returns comes later. */
  claimAnswer(answered: Promise<unknown>): void;
}

/** How long a handler may take to answer a cancelled request in its own way. */
const CANCEL_GRACE_MS = 1_000;

/** Passes request and response on unchanged. The response is sent before anything that follows it. */
export function passThrough(request: IncomingRequest, to: Port, orderAnswer = orderByConnection): RelayedRequest {
  return { sent: undefined, done: sendOn(request, to, orderAnswer, (response) => request.respond(response)) };
}

/**
 * Messages of the session behind the request wait until it is sent on; messages behind the answer wait until the
 * handler is done. A handler that calls `forward` again unblocks them until that answer arrives.
 */
export function relay(
  request: IncomingRequest,
  to: Port,
  handler: (request: RelayContext) => unknown,
  orderAnswer = orderByConnection,
): RelayedRequest {
  const sent = deferred();
  let holding: Deferred<void> | undefined;
  let due = 0;
  const claims: Promise<unknown>[] = [];
  const releaseHold = (): void => holding?.resolve();
  const track = async <T>(answer: Promise<T>): Promise<T> => {
    due += 1;
    try {
      return await answer;
    } finally {
      due -= 1;
    }
  };
  const forward = async (params: unknown = request.params): Promise<Verbatim> => {
    if (request.signal.aborted) throw requestCancelled(); // nobody waits for it
    releaseHold();
    const mine = deferred();
    const answer = sendOn(withParams(request, params), to, orderAnswer, () => {
      holding = mine;
      return mine.promise;
    });
    sent.resolve();
    return track(answer);
  };
  const run = async (): Promise<unknown> =>
    handler({
      ...request,
      forward,
      track,
      claimAnswer: (answered) => void claims.push(answered),
      goOn: () => sent.resolve(),
    });
  const done = answerOnce(request, run(), { isWaitOver: () => due === 0, claims }).finally(releaseHold);
  return { sent: Promise.race([sent.promise, done]), done };
}

/** Resolves with the response when it is the turn of `deliver`, whose promise blocks what is behind the response. */
function sendOn(
  request: IncomingRequest,
  to: Port,
  orderAnswer: OrderAnswer,
  deliver: (response: Verbatim) => unknown,
): Promise<Verbatim> {
  const answer = deferred<Verbatim>();
  const onResponse = (response: Verbatim): void | Promise<void> => {
    const room = orderAnswer(response, () => {
      const blocked = deliver(response);
      answer.resolve(response);
      return blocked;
    });
    return room instanceof Promise ? room.then(() => undefined) : undefined;
  };
  to.forward(request, { signal: request.signal, apart: true, onResponse }).catch((error: unknown) =>
    answer.reject(error),
  );
  return answer.promise;
}

/** Answers with what the handler returns or throws. A handler that ignores the cancellation is not waited for. */
async function answerOnce(
  request: IncomingRequest,
  done: Promise<unknown>,
  { isWaitOver, claims }: { readonly isWaitOver: () => boolean; readonly claims: readonly Promise<unknown>[] },
): Promise<void> {
  const { signal } = request;
  const ignored = deferred<never>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    if (isWaitOver()) ignored.reject(requestCancelled());
    else timer = setTimeout(giveUp, CANCEL_GRACE_MS).unref();
  };
  const cancel = (): void => {
    timer = setTimeout(giveUp, CANCEL_GRACE_MS).unref();
  };
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const result = await Promise.race([done, ignored.promise]);
    if (claims.length > 0) await Promise.all(claims);
    request.respond(result);
  } catch (error) {
    await Promise.all(claims);
    request.fail(error);
  } finally {
    signal.removeEventListener("abort", cancel);
    clearTimeout(timer);
  }
}
