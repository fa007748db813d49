/** What a proxy's author configures, and what the handlers get. */
import { RookeryError } from "../../domain/errors.ts";
import type { SessionOptions } from "../client/session.ts";
import type { Noise } from "../connection/incoming.ts";
import { invalidParams } from "../errors.ts";
import type { InProcessServer, McpDeclaration, McpDialect } from "../mcp/index.ts";
import { SESSION_SETUP_METHODS } from "../mcp/index.ts";
import type * as acp from "../schema.ts";
import { isJsonObject } from "../wire/json-object.ts";
import type { HeldSession } from "./held-sessions.ts";
import type { NotificationHandler } from "./notification-handler.ts";
import type { ProxiedRequest, ProxyHandler } from "./relay.ts";

export interface ProxyOptions {
  /** Added to every session that is set up through the proxy, in a form that the agent supports. */
  readonly mcpServers?: readonly (McpDeclaration | InProcessServer)[] | undefined;
  /** Changes prompts on their way to the agent. */
  readonly prompt?: ((request: acp.PromptRequest) => acp.PromptRequest | Promise<acp.PromptRequest>) | undefined;
  /** Handles the client's requests of these methods. */
  readonly fromClient?: Readonly<Record<string, ClientRequestHandler>> | undefined;
  /** Handles the agent's requests of these methods. */
  readonly fromAgent?: Readonly<Record<string, ProxyHandler>> | undefined;
  /** Handles the client's notifications of these methods, for example `session/cancel`. */
  readonly clientNotifications?: Readonly<Record<string, NotificationHandler>> | undefined;
  /**
   * Handles the agent's notifications of these methods, for example `session/update`. Sees what goes to the client, not
   * the messages of sessions that the proxy drives itself.
   */
  readonly agentNotifications?: Readonly<Record<string, NotificationHandler>> | undefined;
  /** How long a handler of notifications may take. Default: 30 s. */
  readonly notificationTimeoutMs?: number | undefined;
  /** Called with `plugin_failed` if a handler of notifications failed. Default: a warning of the process. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How servers in this process are declared to an agent that supports MCP over ACP. Default: `official`. */
  readonly mcpDialect?: McpDialect | undefined;
  /** The command of the program that bridges stdio to a server in this process. Default: the one of this package. */
  readonly bridge?: readonly string[] | undefined;
  /** Called for output of the agent that is not a message, such as a log line. */
  readonly onNoise?: ((noise: Noise) => void) | undefined;
}

/** Changes to a request that sets a session up. */
export interface SessionChanges {
  /** Sent instead of the client's params. Default: the client's params. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** MCP servers for this session only, added to the others. They are closed with the session. */
  readonly mcpServers?: readonly (McpDeclaration | InProcessServer)[] | undefined;
}

export interface ClientRequest extends ProxiedRequest {
  /**
   * For a request that sets a session up: the proxy drives the session itself until it hands it over. If the handler
   * fails before that, the session is discarded.
   */
  startSession(options?: SessionOptions & SessionChanges): Promise<HeldSession>;
  /**
   * For such a request: sets the session up and hands it over at once. Resolves with the session's id when the client
   * has its answer.
   */
  startProxy(changes?: SessionChanges): Promise<string | undefined>;
}

export type ClientRequestHandler = (request: ClientRequest) => unknown;

export interface ResolvedChanges {
  readonly params: unknown;
  readonly servers: readonly (McpDeclaration | InProcessServer)[];
}

/**
 * Returns the params and servers of a setup. Throws `input_invalid` if the author passed something else, and -32602 if
 * the client did.
 */
export function resolveChanges(request: ProxiedRequest, { params, mcpServers = [] }: SessionChanges): ResolvedChanges {
  const { method } = request;
  if (!SESSION_SETUP_METHODS.has(method) && !method.startsWith("_")) {
    throw new RookeryError("input_invalid", `${method} does not set a session up: call forward instead`);
  }
  if (!Array.isArray(mcpServers)) throw new RookeryError("input_invalid", "mcpServers must be a list");
  if (params !== undefined && !isJsonObject(params)) {
    throw new RookeryError("input_invalid", `the params of ${method} must be an object`);
  }
  const sent = params ?? request.params;
  if (!isJsonObject(sent)) throw invalidParams(`the params of ${method} must be an object`);
  return { params: sent, servers: mcpServers };
}
