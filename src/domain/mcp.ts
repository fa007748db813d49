/** MCP servers: their declarations, their states, and their prompts and resources. */
import type { McpStatus } from "./enums.ts";
import type { ToolSpec } from "./tools.ts";

export type { McpStatus } from "./enums.ts";

/** A server that a session may use, with variables already expanded. Never in the log. */
export type McpServerSpec =
  StdioServerSpec | RemoteServerSpec | InProcessServerSpec | ForeignServerSpec | UnusableServerSpec;

/** Options of every server, regardless of its transport. */
interface ServerSpecBase {
  readonly name: string;
  /** The timeout of a call in milliseconds. Progress restarts it. */
  readonly timeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** If true, the model finds its tools by searching, regardless of their size. */
  readonly defer?: boolean | undefined;
  /**
   * The original declaration, including fields that Rookery ignores, for an agent that connects to the server itself.
   */
  readonly asDeclared?: unknown;
}

export interface StdioServerSpec extends ServerSpecBase {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** In addition to the environment of every server. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the working directory of the session. */
  readonly cwd?: string | undefined;
}

export interface RemoteServerSpec extends ServerSpecBase {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSpec | undefined;
}

/** Without a client ID, Rookery discovers the server's requirements and registers a client. */
export interface OAuthSpec {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Default: a free port. Some servers accept only one redirect URL. */
  readonly callbackPort?: number | undefined;
}

/** A server in this process. */
export interface InProcessServerSpec extends ServerSpecBase {
  readonly type: "memory";
  /** Called for each connection, because a server of the MCP SDK serves one at a time. */
  open(): ConnectableServer | Promise<ConnectableServer>;
}

/** Implemented by `McpServer` and `Server` of the MCP SDK. The server is done when the transport is closed. */
export interface ConnectableServer {
  connect(transport: McpTransport): Promise<void>;
}

/** The required part of the MCP SDK's `Transport`, whose own declarations need browser types. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** Declared in a format that only the intended agent may understand. */
export interface ForeignServerSpec extends ServerSpecBase {
  readonly type: "foreign";
  readonly declaration: unknown;
}

/** Declared, but unusable: for example because a variable is not set. */
export interface UnusableServerSpec extends ServerSpecBase {
  readonly type: "unusable";
  readonly reason: string;
}

export interface McpServerState {
  readonly name: string;
  readonly status: McpStatus;
  /** Why the server is not ready. */
  readonly reason?: string | undefined;
  /** What a person can do to fix it: a command to type, a variable to set. */
  readonly fix?: string | undefined;
  /** The server's instructions for the model. */
  readonly instructions?: string | undefined;
  /** All tools of the server, including those that the agent may not use. Named as the model calls them. */
  readonly tools: readonly ToolSpec[];
  readonly prompts: readonly McpPrompt[];
  readonly resources: readonly McpResource[];
}

/** The servers of a session at one moment, in the order of their declaration. */
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
  /** A URI, or a template as in RFC 6570. */
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
