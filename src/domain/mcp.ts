/** The words for MCP servers: how one is declared, how it is doing, and what it offers beside tools. */
import type { ToolSpec } from "./tools.ts";

/** A server that a session may use. Its texts are as they are to be used: variables are filled in. Never in the log. */
export type McpServerSpec =
  StdioServerSpec | RemoteServerSpec | InProcessServerSpec | ForeignServerSpec | UnusableServerSpec;

/** What is wanted of a server, however it is reached. */
interface ServerSpecBase {
  readonly name: string;
  /** How long a call may be silent: progress begins it anew. */
  readonly timeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Its tools are found by searching, whatever their size. */
  readonly defer?: boolean | undefined;
  /** As whoever brought it wrote it, with all that nobody here reads: for an agent that connects to it itself. */
  readonly asDeclared?: unknown;
}

export interface StdioServerSpec extends ServerSpecBase {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Beside what every server gets. */
  readonly env: Readonly<Record<string, string>>;
  /** The working folder of the session if not said. */
  readonly cwd?: string | undefined;
}

export interface RemoteServerSpec extends ServerSpecBase {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSpec | undefined;
}

/** Where nothing is said, the server is asked what it wants and a client is registered with it. */
export interface OAuthSpec {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** A free one if not said; some servers know only one redirect. */
  readonly callbackPort?: number | undefined;
}

/** Lives in this process. */
export interface InProcessServerSpec extends ServerSpecBase {
  readonly type: "memory";
  /** Called for each connection, because a server of the MCP SDK serves one at a time. */
  open(): ConnectableServer | Promise<ConnectableServer>;
}

/** What `McpServer` and `Server` of the MCP SDK are. It is done with when the transport is closed. */
export interface ConnectableServer {
  connect(transport: McpTransport): Promise<void>;
}

/** As much of the MCP SDK's `Transport` as it takes to be one; its own declarations want a browser's types. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** Declared in a way that only the agent it was meant for may understand. */
export interface ForeignServerSpec extends ServerSpecBase {
  readonly type: "foreign";
  readonly declaration: unknown;
}

/** It was declared, and cannot be used as it stands: a variable is not set, say. */
export interface UnusableServerSpec extends ServerSpecBase {
  readonly type: "unusable";
  readonly reason: string;
}

export const MCP_STATUSES = ["connecting", "ready", "needs_login", "failed", "gone"] as const;
/** `failed` could not be had; `gone` was there and is being reached for again. */
export type McpStatus = (typeof MCP_STATUSES)[number];

export interface McpServerState {
  readonly name: string;
  readonly status: McpStatus;
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  /** What a person can do about it: a command to type, a variable to set. */
  readonly fix?: string | undefined;
  /** What it says of itself, for the model. */
  readonly instructions?: string | undefined;
  /** All that it has, whatever the agent may use. Their names are those that a model calls. */
  readonly tools: readonly ToolSpec[];
  readonly prompts: readonly McpPrompt[];
  readonly resources: readonly McpResource[];
}

/** The servers of a session at one moment, in the order they were declared. */
export interface McpSnapshot {
  readonly servers: readonly McpServerState[];
}

export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required: boolean;
  }[];
}

export interface McpResource {
  readonly server: string;
  /** A template has holes as in RFC 6570. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mediaType?: string | undefined;
}

export type LoginOutcome =
  | { readonly status: "done" }
  | { readonly status: "declined" }
  | { readonly status: "cancelled" }
  | { readonly status: "failed"; readonly reason: string };
