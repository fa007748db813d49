/** MCP over ACP as the official schema has it: each request stands for itself, as MCP has it since 2026-07-28. */
import { raceCancellation } from "../../cancellation.ts";
import { setMaxListeners } from "node:events";
import { RPC, invalidParams, peerError, requestCancelled } from "../../errors.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import type { RpcErrorObject } from "../../wire/message.ts";
import type { InProcessServer } from "../declaration.ts";
import { ServerLink, type McpOutcome } from "../server-link.ts";
import { BINDING_ERRORS } from "./envelope.ts";
import { META_KEYS, toCompleteResult, toDiscoverResult, refuseCall, type ServerIntroduction } from "./revision.ts";
import type { StatelessCall } from "./stateless-call.ts";
import { serveSubscription, type SubscriptionListener } from "./subscription.ts";

export interface IntroducedServer {
  readonly link: ServerLink;
  readonly introduction: ServerIntroduction;
}

const MAX_ACTIVE = 64;
/** The last revision that begins with `initialize`, which servers of the MCP SDK speak. */
const STATEFUL_REVISION = "2025-11-25";
const CLIENT = { name: "rookery", version: "0" };

/**
 * Behind it is one ordinary connection, opened at the first request and kept. It is introduced as a client without
 * capabilities, so that a server which would ask back is refused by its own SDK and can say so.
 */
export class StatelessServer implements AsyncDisposable {
  readonly #server: InProcessServer;
  readonly #active = new Set<string>();
  readonly #listeners = new Set<SubscriptionListener>();
  readonly #disposal = new AbortController();
  #introduced: Promise<IntroducedServer> | undefined;
  #link: ServerLink | undefined;

  constructor(server: InProcessServer) {
    this.#server = server;
    setMaxListeners(MAX_ACTIVE, this.#disposal.signal);
  }

  /** Rejects where the binding fails; an error of the server is an outcome. */
  async call(call: StatelessCall): Promise<McpOutcome> {
    const { requestId } = call;
    if (this.#active.has(requestId)) throw invalidParams(`the MCP request ${requestId} is in hand already`);
    if (this.#active.size >= MAX_ACTIVE) throw peerError(BINDING_ERRORS.limit, "too many MCP requests are in hand");
    this.#active.add(requestId);
    try {
      return await this.#serve(call);
    } catch (error) {
      throw this.#disposal.signal.aborted ? requestCancelled() : error;
    } finally {
      this.#active.delete(requestId);
    }
  }

  /** Does not wait for a server that is still being opened: it is closed as soon as it is there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#link?.close();
  }

  async #serve(call: StatelessCall): Promise<McpOutcome> {
    const { method, params, signal } = call;
    const refused: RpcErrorObject | undefined = refuseCall(method, params);
    if (refused !== undefined) return { error: refused };
    const { link, introduction } = await raceCancellation(
      raceCancellation(this.#introduce(), signal),
      this.#disposal.signal,
    );
    if (method === "server/discover") return { result: toDiscoverResult(introduction) };
    if (method === "subscriptions/listen")
      return serveSubscription(call, { link, introduction, listeners: this.#listeners });
    const outcome = await link.request(method, params, { signal, notified: filterNotifications(call) });
    return "error" in outcome ? outcome : { result: toCompleteResult(method, outcome.result, introduction) };
  }

  #introduce(): Promise<IntroducedServer> {
    this.#introduced ??= this.#open().catch((error: unknown) => {
      this.#introduced = undefined;
      throw error;
    });
    return this.#introduced;
  }

  async #open(): Promise<IntroducedServer> {
    const link = await ServerLink.open(this.#server, {
      request: (method) => Promise.reject(peerError(RPC.methodNotFound, `nobody can be asked ${method} here`)),
      notification: (method, params) => {
        for (const listener of this.#listeners) listener.notification(method, params);
      },
      closed: () => {
        this.#introduced = this.#link = undefined;
        for (const listener of this.#listeners) listener.ended();
      },
    });
    this.#link = link;
    if (this.#disposal.signal.aborted) await link.close();
    const params = { protocolVersion: STATEFUL_REVISION, capabilities: {}, clientInfo: CLIENT };
    const outcome = await link.request("initialize", params);
    if ("error" in outcome) {
      await link.close();
      throw new Error(outcome.error.message);
    }
    link.notify("notifications/initialized", undefined);
    return { link, introduction: isJsonObject(outcome.result) ? outcome.result : {} };
  }
}

/** A log line is sent only where one was asked for. */
function filterNotifications({ params, notify }: StatelessCall): StatelessCall["notify"] {
  const logs = isJsonObject(params?.["_meta"]) && typeof params["_meta"][META_KEYS.logLevel] === "string";
  return (method, notified) => {
    if (method !== "notifications/message" || logs) notify(method, notified);
  };
}
