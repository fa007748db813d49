/** MCP over ACP as in the official schema: each request is self-contained, as in MCP since 2026-07-28. */
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
/** The last revision with `initialize`, which servers of the MCP SDK speak. */
const STATEFUL_REVISION = "2025-11-25";
const CLIENT = { name: "rookery", version: "0" };

/**
 * Uses one ordinary MCP connection, opened on the first request and kept. The client has no capabilities, so the
 * server's SDK itself refuses to send requests to it and can report that.
 */
export class StatelessServer implements AsyncDisposable {
  readonly #server: InProcessServer;
  readonly #active = new Set<string>();
  readonly #listeners = new Set<SubscriptionListener>();
  readonly #disposal = new AbortController();
  #connected: Promise<IntroducedServer> | undefined;
  #link: ServerLink | undefined;

  constructor(server: InProcessServer) {
    this.#server = server;
    setMaxListeners(MAX_ACTIVE, this.#disposal.signal);
  }

  /** Rejects if the binding fails. An error response of the server is an outcome. */
  async call(call: StatelessCall): Promise<McpOutcome> {
    const { requestId } = call;
    if (this.#active.has(requestId)) throw invalidParams(`the MCP request ${requestId} is already in progress`);
    if (this.#active.size >= MAX_ACTIVE) throw peerError(BINDING_ERRORS.limit, "too many MCP requests are in progress");
    this.#active.add(requestId);
    try {
      return await this.#serve(call);
    } catch (error) {
      throw this.#disposal.signal.aborted ? requestCancelled() : error;
    } finally {
      this.#active.delete(requestId);
    }
  }

  /** Does not wait for a server that is still opening; that one is closed as soon as it is open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#link?.close();
  }

  async #serve(call: StatelessCall): Promise<McpOutcome> {
    const { method, params, signal } = call;
    const refused: RpcErrorObject | undefined = refuseCall(method, params);
    if (refused !== undefined) return { error: refused };
    const { link, introduction } = await raceCancellation(
      raceCancellation(this.#connect(), signal),
      this.#disposal.signal,
    );
    if (method === "server/discover") return { result: toDiscoverResult(introduction) };
    if (method === "subscriptions/listen")
      return serveSubscription(call, { link, introduction, listeners: this.#listeners });
    const outcome = await link.request(method, params, { signal, notified: filterNotifications(call) });
    return "error" in outcome ? outcome : { result: toCompleteResult(method, outcome.result, introduction) };
  }

  #connect(): Promise<IntroducedServer> {
    this.#connected ??= this.#open().catch((error: unknown) => {
      this.#connected = undefined;
      throw error;
    });
    return this.#connected;
  }

  async #open(): Promise<IntroducedServer> {
    const link = await ServerLink.open(this.#server, {
      request: (method) =>
        Promise.reject(peerError(RPC.methodNotFound, `${method} is not supported: there is no client to ask`)),
      notification: (method, params) => {
        for (const listener of this.#listeners) listener.notification(method, params);
      },
      closed: () => {
        this.#connected = this.#link = undefined;
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

/** Drops log notifications unless the request asked for them. */
function filterNotifications({ params, notify }: StatelessCall): StatelessCall["notify"] {
  const logs = isJsonObject(params?.["_meta"]) && typeof params["_meta"][META_KEYS.logLevel] === "string";
  return (method, notified) => {
    if (method !== "notifications/message" || logs) notify(method, notified);
  };
}
