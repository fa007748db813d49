/** Sessions that a proxy drives itself for a while, and then hands over to the client with everything it did not read. */
import { sessionIdIn, type SetUpMethod } from "../client/builder.ts";
import { SessionRoutes } from "../client/routes.ts";
import { ClientSession, type SessionOptions } from "../client/session.ts";
import { Verbatim, type IncomingNotification, type IncomingRequest } from "../connection/incoming.ts";
import type { SessionItem } from "../client/items.ts";
import type { ProxyLink } from "./link.ts";

export interface HeldSession {
  /** For the proxy to prompt and to read; what no handler takes is an item to read. */
  readonly session: ClientSession;
  /**
   * Answers the client's request with the agent's own response, passes on what was not read, in order, and from then on
   * everything as it comes. A prompt of the proxy that still runs goes on: its updates and requests are the client's.
   */
  proxyRemaining(): void;
}

export class HeldSessions {
  readonly #link: ProxyLink;
  readonly #routes = new SessionRoutes();

  constructor(link: ProxyLink) {
    this.#link = link;
  }

  find(message: IncomingNotification): ClientSession | undefined {
    return this.#routes.find(message);
  }

  /** Sends the client's set-up request to the agent with these params, and takes the session. Rejects with `PeerError`. */
  async start(
    request: IncomingRequest,
    params: Readonly<Record<string, unknown>>,
    options: SessionOptions,
  ): Promise<HeldSession> {
    const { agent } = this.#link;
    const method = request.method as SetUpMethod;
    const given = method === "session/load" || method === "session/resume" ? params["sessionId"] : undefined;
    const open = (id: string): ClientSession =>
      new ClientSession({
        connection: agent,
        id,
        options: { unhandled: "read", ...options },
        leave: (session) => {
          this.#handOver(session);
          return Promise.resolve();
        },
      });
    const send = async (named: (response: Verbatim) => ClientSession): Promise<ClientSession> => {
      let session: ClientSession | undefined;
      let failed: unknown;
      const onResponse = (response: Verbatim): void => {
        try {
          session = named(response);
          session.started(response);
        } catch (error) {
          failed = error;
        }
      };
      await agent.request(method, params, { signal: request.signal, onResponse, apart: true });
      if (session === undefined) throw failed;
      return session;
    };
    const session =
      typeof given === "string"
        ? await this.#startKnown(open(given), method, send)
        : await this.#routes.settingUp(
            open,
            (named) => send((response) => named(sessionIdIn(response, method))),
            (early) => this.#handOver(early),
          );
    return { session, proxyRemaining: () => this.#proxyRemaining(request, session) };
  }

  async #startKnown(
    session: ClientSession,
    method: SetUpMethod,
    send: (named: () => ClientSession) => Promise<ClientSession>,
  ): Promise<ClientSession> {
    if (method === "session/load") session.loading();
    this.#routes.add(session);
    try {
      return await send(() => session);
    } catch (error) {
      this.#handOver(session); // the client may have use for what came before the refusal
      throw error;
    }
  }

  #proxyRemaining(request: IncomingRequest, session: ClientSession): void {
    if (session.setUp !== undefined) request.respond(session.setUp);
    this.#handOver(session);
  }

  /** In one go: nothing is handled between the last that is passed on here and the first that is passed on by itself. */
  #handOver(session: ClientSession): void {
    this.#routes.remove(session);
    for (const item of session.take()) this.#passOn(item);
  }

  #passOn(item: SessionItem): void {
    const { client } = this.#link;
    if (item.kind === "update") {
      const { notification: params, line } = item;
      void client.passOn({ method: "session/update", params, line });
    } else if (item.kind === "request") {
      const { request } = item;
      client.forward(request, { signal: request.signal, apart: true }).then(
        (response) => item.respond(response),
        (error: unknown) => item.fail(error),
      );
    }
  }
}
