/**
 * The unread messages of a session that a proxy holds, in the order of arrival. The proxy reads them; the client gets
 * the rest.
 */
import { findSessionHandler } from "../client/session-handlers.ts";
import { hasUpdate } from "../client/routing/request-params.ts";
import type { RequestItem, SessionItem } from "../client/session-items.ts";
import type { ClientSession, SessionOptions } from "../client/session.ts";
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import { ConnectionClosed } from "../errors.ts";
import type { PassedMessage } from "./passed-message.ts";

/** Limit for notifications other than updates, in characters. Above it they pass through at once. */
const MAX_OTHER_CHARACTERS = 1024 * 1024;

/** Passes messages of sessions to the client, in order and through the proxy's handlers. */
export interface ClientSide {
  notification(notification: PassedMessage): void | Promise<void>;
  request(item: RequestItem): void;
  /** Calls `give`, which answers a request of the client, behind the session's messages before it. */
  answer(sessionId: string, give: () => void): void;
}

export class HeldMessages {
  readonly #session: ClientSession;
  readonly #options: SessionOptions;
  /** Arrival number: of an update by its params, of a request by the request. */
  readonly #order = new WeakMap<object, number>();
  #otherNotifications: { readonly at: number; readonly notification: IncomingNotification }[] = [];
  #size = 0;
  #count = 0;
  #answeredAt = 0;

  constructor(session: ClientSession, options: SessionOptions) {
    this.#session = session;
    this.#options = options;
  }

  /**
   * True if the proxy answers the request. Until the setup is answered nobody can read requests, so only a handler can
   * answer.
   */
  isForProxy(request: IncomingRequest): boolean {
    if (this.#answeredAt > 0) return true;
    try {
      return findSessionHandler(this.#options, request) !== undefined;
    } catch {
      return true; // the session refuses invalid params
    }
  }

  request(request: IncomingRequest): Promise<unknown> {
    this.#order.set(request, (this.#count += 1));
    return this.#session.onRequest(request);
  }

  /** Undefined if the notification passes through; otherwise what the agent has to wait for. */
  notification(notification: IncomingNotification): { readonly room: void | Promise<void> } | undefined {
    const { method, params, line } = notification;
    if (method !== "session/update" && this.#options.notification !== undefined)
      return { room: this.#session.onNotification(notification) };
    if (method === "session/update" && hasUpdate(params)) {
      this.#order.set(params, (this.#count += 1));
      return { room: this.#session.onUpdate(notification) };
    }
    if (this.#size + line.length > MAX_OTHER_CHARACTERS) return undefined;
    this.#size += line.length;
    this.#otherNotifications.push({ at: (this.#count += 1), notification });
    return { room: undefined };
  }

  /** The agent has answered the setup request. */
  answered(): void {
    this.#answeredAt = this.#count += 1;
  }

  /**
   * Sends all unread messages to the client. `answer` sends the agent's answer. The answer comes first if the session
   * is new to the client, and in its place among the messages if the client loads the session, because then it expects
   * the history before the answer. Throws if a connected client cannot be reached.
   */
  passOn(client: ClientSide, answer?: { readonly give: () => void; readonly inPlace: boolean }): void {
    const items = this.#session
      .take()
      .map((item) => ({ at: this.#getPosition(item), pass: () => passItemOn(item, client) }));
    const others = this.#otherNotifications.map(({ at, notification }) => ({
      at,
      pass: () => void client.notification(notification),
    }));
    const give = (sent: () => void) => (): void => client.answer(this.#session.id, sent);
    const answers =
      answer === undefined ? [] : [{ at: answer.inPlace ? this.#answeredAt : 0, pass: give(answer.give) }];
    this.#clear();
    const failures: unknown[] = [];
    for (const { pass } of [...answers, ...items, ...others].sort((one, other) => one.at - other.at)) {
      try {
        pass();
      } catch (error) {
        if (!(error instanceof ConnectionClosed)) failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Drops all messages; requests fail with the error. */
  refuse(error: Error): void {
    for (const item of this.#session.take()) if (item.kind === "request") item.fail(error);
    this.#clear();
  }

  #clear(): void {
    this.#otherNotifications = [];
    this.#size = 0;
  }

  #getPosition(item: SessionItem): number {
    if (item.kind === "stop") return 0; // only for the caller of `prompt`
    return this.#order.get(item.kind === "update" ? item.notification : item.request) ?? 0;
  }
}

function passItemOn(item: SessionItem, client: ClientSide): void {
  if (item.kind === "request") return client.request(item);
  if (item.kind === "update") {
    void client.notification({ method: "session/update", params: item.notification, line: item.line });
  }
}
