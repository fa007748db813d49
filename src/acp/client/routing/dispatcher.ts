/** Passes each message of the agent to its receiver: an extra route, a session, or the client itself. */
import type { IncomingNotification, IncomingRequest } from "../../connection/incoming.ts";
import { methodNotFound, notFound } from "../../errors.ts";
import type { ArrivalLog } from "./arrival-log.ts";
import { OrderedDelivery } from "../buffer/ordered-delivery.ts";
import type { Backpressure } from "../buffer/backpressure.ts";
import { findSessionHandler, type SessionOptions } from "../session-handlers.ts";
import { getSessionId, hasUpdate } from "./request-params.ts";
import type { SessionRoutes } from "./session-routes.ts";
import type { ClientSession } from "../session.ts";

/** Receives messages that belong to no session, such as `mcp/message` and extensions. */
export interface Route {
  readonly takes: (message: IncomingNotification) => boolean;
  request(request: IncomingRequest): unknown;
  /** The returned promise blocks all messages that follow. */
  notification(notification: IncomingNotification): void | Promise<void>;
}

export interface DispatcherParts {
  readonly routes: SessionRoutes;
  readonly backpressure: Backpressure;
  readonly arrivals: ArrivalLog;
  /** The handlers of the client itself. */
  readonly serve: SessionOptions;
  readonly stray: (notification: IncomingNotification) => void;
  /** Called if a notification handler throws. */
  readonly failed: (error: unknown) => void;
}

export class MessageDispatcher {
  readonly #parts: DispatcherParts;
  readonly #extraRoutes = new Set<Route>();
  /** Notifications other than updates: handled one after the other, without blocking the messages that follow. */
  readonly #notifications: OrderedDelivery<{ readonly line: string; readonly handle: () => void | Promise<void> }>;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#notifications = new OrderedDelivery(({ handle }) => handle(), parts.failed);
    this.#notifications.open();
  }

  addRoute(route: Route): () => void {
    this.#extraRoutes.add(route);
    return () => void this.#extraRoutes.delete(route);
  }

  notification(notification: IncomingNotification): void | Promise<void> {
    const { arrivals, routes } = this.#parts;
    arrivals.advanceTo(notification.line);
    const route = this.#findRoute(notification);
    if (route !== undefined) return route.notification(notification);
    if (routes.find(notification) === undefined && routes.keepEarly(notification)) return;
    return this.deliver(notification);
  }

  /** Passes a notification to its session, or treats it as one of no session. */
  deliver(notification: IncomingNotification): void | Promise<void> {
    const { routes, stray } = this.#parts;
    const session = routes.find(notification);
    if (notification.method !== "session/update") return this.#queueNotification(notification, session);
    if (session === undefined || !hasUpdate(notification.params)) return stray(notification);
    return session.onUpdate(notification);
  }

  request(request: IncomingRequest): unknown {
    const { arrivals, routes, serve } = this.#parts;
    arrivals.advanceTo(request.line);
    const route = this.#findRoute(request);
    if (route !== undefined) return route.request(request);
    const session = routes.find(request);
    if (session !== undefined) return session.onRequest(request);
    const { method, params, signal } = request;
    const sessionId = getSessionId(params);
    const options = routes.getEarlyOptions(request);
    if (options !== undefined) return this.#serveEarly(request, options);
    if (sessionId !== undefined && !method.startsWith("_")) throw notFound(`session ${sessionId}`);
    const run = findSessionHandler(serve, request);
    if (run === undefined) throw methodNotFound(method);
    return run({ sessionId, signal });
  }

  /** Nobody can read a request of a session that is not set up, so only a handler can answer it. */
  #serveEarly(request: IncomingRequest, options: SessionOptions): unknown {
    const { signal } = request;
    const run = findSessionHandler(options, request);
    if (run === undefined) throw methodNotFound(request.method);
    return run({ sessionId: getSessionId(request.params), signal });
  }

  #queueNotification(notification: IncomingNotification, session: ClientSession | undefined): void | Promise<void> {
    const { backpressure, serve } = this.#parts;
    const { line } = notification;
    const handle = (): void | Promise<void> =>
      session === undefined ? serve.notification?.(notification) : session.onNotification(notification);
    this.#notifications.push({ line, handle });
    const { room } = this.#notifications;
    return room && backpressure.holdPipe(this, room);
  }

  #findRoute(message: IncomingNotification): Route | undefined {
    for (const route of this.#extraRoutes) if (route.takes(message)) return route;
    return undefined;
  }
}
