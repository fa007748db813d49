/** One direction of a proxy: passes messages to one side through the author's handlers, in order within each session. */
import { deferred } from "../../stdx/index.ts";
import { getSessionId } from "../client/routing/request-params.ts";
import type { IncomingRequest, Verbatim } from "../connection/incoming.ts";
import { requestCancelled } from "../errors.ts";
import { handleNotification, type NotificationHandler } from "./notification-handler.ts";
import type { PassedMessage } from "./passed-message.ts";
import type { Port } from "./port.ts";
import type { OrderAnswer, RelayedRequest } from "./relay.ts";
import { SessionLanes, type Lane } from "./session-lanes.ts";

export interface DirectionParts {
  /** The side that gets the messages. */
  readonly to: () => Port;
  readonly handlers: Readonly<Record<string, NotificationHandler>> | undefined;
  readonly timeoutMs: number;
  /** Called if a handler failed: its notification is dropped. */
  readonly handlerFailed: (error: unknown) => void;
  /** Called if a message could not be sent after it had waited. */
  readonly sendFailed: (error: unknown) => void;
}

export class Direction {
  readonly #parts: DirectionParts;
  readonly #lanes = new SessionLanes();

  constructor(parts: DirectionParts) {
    this.#parts = parts;
  }

  /** Passes the queued messages of the session on at once. */
  flush(sessionId: string): void {
    this.#lanes.flush(sessionId);
  }

  /** Calls `pass` after the messages of the session that came before. */
  inOrder(sessionId: string, pass: () => void): void {
    void this.#lanes.run(sessionId, 0, pass);
  }

  /**
   * Returns what the connection has to wait for. `take` is called if the message waited and is flushed: it returns true
   * if somebody else takes the message. Throws if the message cannot be sent.
   */
  notification(notification: PassedMessage, take: () => boolean = () => false): Promise<void> | undefined {
    const handler = findHandler(this.#parts.handlers, notification.method);
    if (handler === undefined && this.#lanes.isIdle) return this.#parts.to().passOn(notification); // does not parse it
    const lane = getSessionId(notification.params);
    if (!this.#lanes.isBusy(lane)) return this.#passNow(notification, handler, lane);
    const room = this.#lanes.run(lane, notification.line.length, async (isFlushed) => {
      if (!isFlushed || !take()) await this.#passLater(notification, handler);
    });
    return room?.then(() => undefined);
  }

  /** Starts a request when the messages of its lane before it have been sent on, or when it is flushed. */
  request(request: IncomingRequest, lane: Lane, start: (isFlushed: boolean) => RelayedRequest): unknown {
    if (!this.#lanes.isBusy(lane)) {
      const { sent, done } = start(false);
      if (sent === undefined) return done;
      if (lane === undefined) request.hold(sent);
      else void this.#lanes.run(lane, 0, () => sent);
      return done;
    }
    const answer = deferred<unknown>();
    const cancel = (): void => answer.reject(requestCancelled());
    request.signal.addEventListener("abort", cancel, { once: true });
    const room = this.#lanes.run(lane, request.line.length, (isFlushed) => {
      request.signal.removeEventListener("abort", cancel);
      if (request.signal.aborted) return undefined;
      const { sent, done } = start(isFlushed);
      done.then(
        (result) => answer.resolve(result),
        (error: unknown) => answer.reject(error),
      );
      return sent;
    });
    if (room !== undefined) request.hold(room);
    return answer.promise;
  }

  /** Orders the responses that travel in this direction. A response of no session blocks the connection. */
  orderAnswers(findLane: (response: Verbatim) => Lane): OrderAnswer {
    return (response, deliver) => {
      const lane = findLane(response);
      if (lane === undefined && this.#lanes.isIdle) return deliver();
      return this.#lanes.run(lane, response.line.length, deliver);
    };
  }

  #passNow(
    notification: PassedMessage,
    handler: NotificationHandler | undefined,
    lane: Lane,
  ): Promise<void> | undefined {
    const result = this.#handle(notification, handler);
    if (!(result instanceof Promise)) return result && this.#parts.to().passOn(result);
    void this.#lanes.run(lane, 0, () => result.then((passed) => this.#send(passed)));
    return undefined;
  }

  async #passLater(notification: PassedMessage, handler: NotificationHandler | undefined): Promise<void> {
    await this.#send(await this.#handle(notification, handler));
  }

  /** Undefined if the notification is dropped. */
  #handle(
    notification: PassedMessage,
    handler: NotificationHandler | undefined,
  ): PassedMessage | undefined | Promise<PassedMessage | undefined> {
    if (handler === undefined) return notification;
    const failed = (error: unknown): undefined => {
      this.#parts.handlerFailed(error);
    };
    try {
      const result = handleNotification(notification, handler, this.#parts.timeoutMs);
      return result instanceof Promise ? result.catch(failed) : result;
    } catch (error) {
      return failed(error);
    }
  }

  async #send(notification: PassedMessage | undefined): Promise<void> {
    if (notification === undefined) return;
    try {
      await this.#parts.to().passOn(notification);
    } catch (error) {
      this.#parts.sendFailed(error);
    }
  }
}

/** The author's handler of this method. Ignores what every object inherits. */
export function findHandler<Handler>(
  handlers: Readonly<Record<string, Handler>> | undefined,
  method: string,
): Handler | undefined {
  return handlers !== undefined && Object.hasOwn(handlers, method) ? handlers[method] : undefined;
}
