/**
 * Sessions that a proxy drives itself for a while and then hands over to the client, with everything that it did not
 * read.
 */
import { RookeryError } from "../../domain/errors.ts";
import { deferred } from "../../stdx/index.ts";
import { requireAttachedId, sessionInUse, toVerbatim, type AttachOptions } from "../client/attach.ts";
import { requireSessionId, type SessionSetupMethod } from "../client/session-setup.ts";
import { CLIENT_SETUPS, type SetupQueue } from "../client/routing/setup-queue.ts";
import { getSessionId } from "../client/routing/request-params.ts";
import { SessionRoutes } from "../client/routing/session-routes.ts";
import { ClientSession, type SessionLink, type SessionOptions } from "../client/session.ts";
import type { IncomingNotification, IncomingRequest, Verbatim } from "../connection/incoming.ts";
import { ConnectionClosed, notFound, peerError, requestCancelled, RPC } from "../errors.ts";
import { EarlyNotifications } from "../client/routing/early-notifications.ts";
import type { RelayContext } from "./relay.ts";
import { HeldMessages, type ClientSide } from "./held-messages.ts";

export interface HeldSession {
  /** For the proxy to prompt and read. Requests without a handler are items for the reader. */
  readonly session: ClientSession;
  /**
   * Answers the client's request with the agent's response, passes unread messages on in order, and then everything as
   * it comes. If the session is loaded or resumed, messages that came before the response are passed on before it.
   *
   * A running prompt of the proxy continues: its updates and requests go to the client, its response to the proxy.
   * Until then the agent refuses prompts of the client.
   *
   * Throws `input_too_large` if unread messages were dropped; then nothing has been sent.
   */
  readonly proxyRemaining: () => void;
}

/** The request that sets the session up, and the proxy's own options for it. */
export interface HeldSessionRequest {
  readonly request: IncomingRequest & Pick<RelayContext, "claimAnswer">;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: SessionOptions;
  /** Called when the proxy closes or disposes the session. */
  readonly left: (session: ClientSession) => void;
}

export interface HeldSessionsParts {
  readonly agent: SessionLink;
  readonly client: ClientSide;
  readonly setups: SetupQueue;
  /** Resolves with the reason when the agent can send nothing more. */
  readonly agentGone: Promise<Error>;
}

/**
 * Keeps the order within each session, no matter how many sessions are set up at once:
 *
 * 1. While a setup of the proxy is pending, a notification of an unknown session waits (`#early`). The setup response
 * that names the session decides: the proxy's session takes the waiting notifications; those of a client session are
 * passed on before that response.
 * 2. A request of a session that is not held yet passes through at once, behind its session's waiting notifications:
 * the agent may need the answer before it answers the setup.
 * 3. Unclaimed notifications are passed on when no setup of the proxy is pending.
 */
export class HeldSessions {
  readonly #parts: HeldSessionsParts;
  readonly #routes = new SessionRoutes();
  readonly #messages = new WeakMap<ClientSession, HeldMessages>();
  readonly #early = new EarlyNotifications();
  /** Number of the proxy's setups that wait for a session id from the agent. */
  #unnamed = 0;

  constructor(parts: HeldSessionsParts) {
    this.#parts = parts;
    void parts.agentGone.then((error) => {
      for (const session of this.#routes.all) session.onConnectionEnd(error);
    });
  }

  /**
   * The session belongs to the client: passes its waiting notifications on. Call it before the client learns of the
   * session.
   */
  markClientSession(sessionId: string | undefined): void {
    if (sessionId === undefined) return;
    this.#routes.forget(sessionId);
    this.#release(this.#early.take(sessionId));
  }

  /** True if the session is held, or the client knows it. */
  knows(sessionId: string): boolean {
    return this.#routes.has(sessionId) || this.#routes.isForgotten(sessionId);
  }

  /** Handles a request of a held session. Undefined if the request passes through. */
  request(request: IncomingRequest): Promise<unknown> | undefined {
    const session = this.#routes.find(request);
    if (session !== undefined) {
      const waiting = this.#getMessages(session);
      if (waiting.isForProxy(request)) return waiting.request(request);
      waiting.passOn(this.#parts.client); // earlier messages go first
    } else if (this.#unnamed > 0) {
      const sessionId = getSessionId(request.params);
      if (sessionId !== undefined) this.#release(this.#early.take(sessionId));
    }
    return undefined;
  }

  /** Handles a notification of a held session, or of one that may become held. Undefined if it passes through. */
  notification(notification: IncomingNotification): { readonly room: void | Promise<void> } | undefined {
    const session = this.#routes.find(notification);
    if (session !== undefined) return this.#getMessages(session).notification(notification);
    if (this.#unnamed === 0) return undefined;
    const sessionId = getSessionId(notification.params);
    if (sessionId === undefined || this.#routes.isForgotten(sessionId)) return undefined;
    if (this.#early.add(sessionId, notification)) return { room: undefined };
    this.#release(this.#early.take(sessionId));
    return undefined;
  }

  /**
   * Sends the client's setup request to the agent with these params and takes the session. Rejects with `PeerError`.
   */
  async start(holding: HeldSessionRequest): Promise<HeldSession> {
    const { request } = holding;
    const session = await this.#start(holding, request.method as SessionSetupMethod);
    const given = deferred();
    const give = (): void => {
      request.respond(session.setUp);
      given.resolve();
    };
    return {
      session,
      proxyRemaining: () => {
        if (session.dropped > 0) throw lostUpdatesError(session);
        request.claimAnswer(given.promise);
        this.#handOver(session, { give, inPlace: getExistingSessionId(holding) !== undefined });
      },
    };
  }

  /**
   * Holds a session that exists: the proxy gets its messages from now on. Throws `input_invalid` if the response has no
   * session id, and `session_in_use` if the proxy already holds it.
   */
  attach({ response, serve = {} }: AttachOptions): HeldSession {
    const id = requireAttachedId(response);
    if (this.#routes.has(id)) throw sessionInUse(id);
    const session = this.#open(id, { options: serve, left: () => undefined });
    session.recordSetup(toVerbatim(response));
    this.#getMessages(session).answered();
    this.#routes.add(session);
    const proxyRemaining = (): void => {
      if (session.dropped > 0) throw lostUpdatesError(session);
      this.#handOver(session);
    };
    return { session, proxyRemaining };
  }

  /** Discards the session: drops its messages, refuses its requests, and cancels a running turn. */
  async giveUp({ session }: HeldSession): Promise<void> {
    if (!this.#routes.all.includes(session)) return;
    this.#routes.remove(session);
    this.#getMessages(session).refuse(notFound(`session ${session.id}`));
    await session[Symbol.asyncDispose]();
  }

  #start(holding: HeldSessionRequest, method: SessionSetupMethod): Promise<ClientSession> {
    const known = getExistingSessionId(holding);
    return known === undefined ? this.#startUnnamed(holding, method) : this.#startKnown(known, holding, method);
  }

  #startUnnamed(holding: HeldSessionRequest, method: SessionSetupMethod): Promise<ClientSession> {
    let isPending = true;
    const settle = (): void => {
      if (!isPending) return;
      isPending = false;
      this.#unnamed -= 1;
      if (this.#unnamed === 0) this.#release(this.#early.takeAll());
    };
    const named = (response: Verbatim): ClientSession => {
      try {
        return this.#openNamed(requireSessionId(response, method), holding);
      } finally {
        settle();
      }
    };
    return new Promise((resolve, reject) => {
      this.#parts.setups.enter(CLIENT_SETUPS, (leave) => {
        this.#unnamed += 1;
        const settled = (): void => {
          settle();
          leave();
        };
        const send = async (): Promise<ClientSession> => {
          if (holding.request.signal.aborted) throw requestCancelled(); // it may have waited for other setups
          return this.#send(holding, method, (response) => {
            try {
              return named(response);
            } finally {
              leave();
            }
          });
        };
        send().finally(settled).then(resolve, reject);
      });
    });
  }

  /** The agent has named the session: it gets the notifications that waited for it. */
  #openNamed(id: string, holding: HeldSessionRequest): ClientSession {
    if (this.#routes.has(id)) {
      throw new RookeryError("agent_failed", `the agent created a session with an id that is already in use: ${id}`);
    }
    const session = this.#open(id, holding);
    this.#routes.add(session);
    const waiting = this.#getMessages(session);
    for (const notification of this.#early.take(id)) {
      if (waiting.notification(notification) === undefined) this.#release([notification]);
    }
    return session;
  }

  async #startKnown(id: string, holding: HeldSessionRequest, method: SessionSetupMethod): Promise<ClientSession> {
    if (this.#routes.has(id)) throw peerError(RPC.invalidRequest, `session ${id} is already being set up`);
    const session = this.#open(id, holding);
    if (method === "session/load") session.startLoading();
    this.#routes.add(session);
    try {
      return await this.#send(holding, method, () => session);
    } catch (error) {
      this.#handOver(session); // the client may need what came before the refusal
      throw error;
    }
  }

  #open(id: string, { options, left }: Pick<HeldSessionRequest, "options" | "left">): ClientSession {
    const session = new ClientSession({
      connection: this.#parts.agent,
      id,
      options: { unhandled: "read", ...options },
      keepsUnread: true,
      leave: (leaving) => {
        this.#handOver(leaving);
        left(leaving);
        return Promise.resolve();
      },
    });
    this.#messages.set(session, new HeldMessages(session, options));
    return session;
  }

  async #send(
    { request, params }: HeldSessionRequest,
    method: SessionSetupMethod,
    named: (response: Verbatim) => ClientSession,
  ): Promise<ClientSession> {
    let session: ClientSession | undefined;
    let failed: unknown;
    const onResponse = (response: Verbatim): void => {
      try {
        session = named(response);
        session.recordSetup(response);
        this.#getMessages(session).answered();
      } catch (error) {
        failed = error;
      }
    };
    await this.#parts.agent.request(method, params, { signal: request.signal, onResponse, apart: true });
    if (session === undefined) throw failed;
    return session;
  }

  /**
   * Synchronous, so that no message is handled between the last one passed on here and the first that passes by itself.
   */
  #handOver(session: ClientSession, answer?: Parameters<HeldMessages["passOn"]>[1]): void {
    this.#routes.remove(session);
    this.#getMessages(session).passOn(this.#parts.client, answer);
  }

  #release(notifications: readonly IncomingNotification[]): void {
    for (const notification of notifications) {
      try {
        void this.#parts.client.notification(notification);
      } catch (error) {
        if (!(error instanceof ConnectionClosed)) throw error;
      }
    }
  }

  #getMessages(session: ClientSession): HeldMessages {
    const waiting = this.#messages.get(session);
    if (waiting === undefined) throw new Error(`session ${session.id} was not opened here`);
    return waiting;
  }
}

/** The session that the request is about. Undefined if the request creates one. */
function getExistingSessionId({ request: { method }, params }: HeldSessionRequest): string | undefined {
  return method === "session/load" || method === "session/resume" ? getSessionId(params) : undefined;
}

function lostUpdatesError({ id, dropped }: ClientSession): RookeryError {
  const message = `${dropped} unread updates of session ${id} were dropped: read them, or hand the session over sooner`;
  return new RookeryError("input_too_large", message);
}
