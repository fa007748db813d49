/** Test agent at the other end of a connection on which MCP servers are served. */
import { Connection, transportPair, type IncomingRequest } from "../../index.ts";
import { toolServer, type ToolServer } from "../test-tools.ts";
import { McpOverAcp } from "./provider.ts";
import { META_KEYS, MCP_REVISION } from "./revision.ts";

/** The metadata that each request of MCP 2026-07-28 requires. */
export const REQUEST_META = { [META_KEYS.protocolVersion]: MCP_REVISION, [META_KEYS.clientCapabilities]: {} };

export interface ReceivedNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export class McpAgent implements AsyncDisposable {
  readonly server: ToolServer = toolServer();
  readonly overAcp: McpOverAcp;
  readonly connection: Connection;
  /** The notifications that the agent received. */
  readonly notifications: ReceivedNotification[] = [];
  /** Called for each notification. */
  onNotification: (told: ReceivedNotification) => void = () => undefined;
  /** Answers the agent's incoming requests. */
  answer: (request: IncomingRequest) => unknown = () => Promise.reject(new Error("nobody is there"));
  readonly #client: Connection;
  #calls = 0;

  constructor() {
    const [near, far] = transportPair();
    this.#client = new Connection({
      transport: near,
      handlers: {
        request: (request) => this.overAcp.request(request),
        notification: (notification) => this.overAcp.notification(notification),
      },
    });
    this.overAcp = new McpOverAcp(this.#client);
    this.connection = new Connection({
      transport: far,
      handlers: {
        request: (request) => this.answer(request),
        notification: ({ method, params }) => {
          const told = { method, params: params as ReceivedNotification["params"] };
          this.notifications.push(told);
          this.onNotification(told);
        },
      },
    });
  }

  /** Serves the tool server again and returns its id. */
  serve(): string {
    return (this.overAcp.serve(this.server).declaration as { serverId: string }).serverId;
  }

  /** Sends one request in the form of the official schema. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    { serverId = this.serve(), requestId = `call-${(this.#calls += 1)}`, signal }: CallOptions = {},
  ): Promise<unknown> {
    const inner = { _meta: REQUEST_META, ...params };
    return this.connection.request("mcp/message", { serverId, requestId, method, params: inner }, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.overAcp[Symbol.asyncDispose]();
    await this.connection.close();
    await this.#client.close();
  }
}

export interface CallOptions {
  readonly serverId?: string;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}
