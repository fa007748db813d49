/** Sessions of a proxy's own with the agent. Nothing of them reaches the client, neither before nor after their life. */
import { Backpressure } from "../client/buffer/backpressure.ts";
import { isFeatureOffered } from "../client/agent-features.ts";
import { getSessionId, hasUpdate } from "../client/routing/request-params.ts";
import { SessionRoutes } from "../client/routing/session-routes.ts";
import type { SetupQueue } from "../client/routing/setup-queue.ts";
import type { SessionStart } from "../client/session-builder.ts";
import { findSessionHandler } from "../client/session-handlers.ts";
import { setUpSession } from "../client/session-setup.ts";
import type { ClientSession, SessionLink } from "../client/session.ts";
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import { methodNotFound, notFound } from "../errors.ts";
import type { SessionOffers } from "./session-offers.ts";

export interface OwnSessionsParts {
  readonly agent: SessionLink;
  readonly offers: SessionOffers;
  readonly setups: SetupQueue;
  /** Resolves with the reason when the agent can send nothing more. */
  readonly agentGone: Promise<Error>;
  /** True if the session belongs to the client. */
  readonly isOfClient: (sessionId: string) => boolean;
  /** Passes a notification on that turned out not to be of an own session. */
  readonly passOn: (notification: IncomingNotification) => void;
}

export class OwnSessions {
  readonly #parts: OwnSessionsParts;
  readonly #routes: SessionRoutes;

  constructor(parts: OwnSessionsParts) {
    this.#parts = parts;
    this.#routes = new SessionRoutes((notification) => {
      if (this.#deliver(notification) === undefined) parts.passOn(notification);
    }, parts.setups);
    void parts.agentGone.then((error) => {
      for (const session of this.#routes.all) session.onConnectionEnd(error);
    });
  }

  /** True if the proxy has this session open. */
  has(sessionId: string): boolean {
    return this.#routes.has(sessionId);
  }

  /** The client sets this session up: it is no longer a former session of the proxy. */
  recall(sessionId: string): void {
    this.#routes.recall(sessionId);
  }

  start({ method, params, mcpServers, options, sessionId, signal }: SessionStart): Promise<ClientSession> {
    const { agent, offers } = this.#parts;
    const host = {
      connection: agent,
      routes: this.#routes,
      backpressure: new Backpressure(),
      closes: isFeatureOffered(offers.capabilities, "close"),
      keepsUnread: true,
    };
    const leave = (session: ClientSession): Promise<void> => {
      this.#routes.remove(session);
      offers.closeServers(session.id);
      return Promise.resolve();
    };
    return offers.offerAndSend(mcpServers, async (declarations) => {
      const setup = { method, params: { ...params, mcpServers: declarations }, options, sessionId, leave, signal };
      const value = await setUpSession(host, setup);
      return { value, sessionId: value.id };
    });
  }

  /** Undefined if the notification is not of an own session; otherwise what the agent has to wait for. */
  notification(notification: IncomingNotification): { readonly room: void | Promise<void> } | undefined {
    if (!this.#routes.isUsed) return undefined; // skips parsing
    const delivered = this.#deliver(notification);
    if (delivered !== undefined) return delivered;
    const id = getSessionId(notification.params);
    if (id === undefined || this.#parts.isOfClient(id)) return undefined;
    return this.#routes.keepEarly(notification) ? { room: undefined } : undefined;
  }

  /** Undefined if the request is not of an own session. Throws -32002 if it is of a former one. */
  request(request: IncomingRequest): Promise<unknown> | undefined {
    if (!this.#routes.isUsed) return undefined;
    const session = this.#routes.find(request);
    if (session !== undefined) return session.onRequest(request);
    const id = getSessionId(request.params);
    if (id === undefined) return undefined;
    if (this.#routes.isForgotten(id)) throw notFound(`session ${id}`);
    const options = this.#parts.isOfClient(id) ? undefined : this.#routes.getEarlyOptions(request);
    if (options === undefined) return undefined;
    const run = findSessionHandler(options, request);
    if (run === undefined) throw methodNotFound(request.method);
    return Promise.resolve(run({ sessionId: id, signal: request.signal }));
  }

  #deliver(notification: IncomingNotification): { readonly room: void | Promise<void> } | undefined {
    const session = this.#routes.find(notification);
    if (session !== undefined) {
      if (notification.method !== "session/update") return { room: session.onNotification(notification) };
      return { room: hasUpdate(notification.params) ? session.onUpdate(notification) : undefined };
    }
    const id = getSessionId(notification.params);
    return id !== undefined && this.#routes.isForgotten(id) ? { room: undefined } : undefined; // drops late ones
  }
}
