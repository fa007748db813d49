/** MCP servers for a session: ACP declarations, or servers in this process. */
import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { InProcessServerSpec } from "../../domain/mcp.ts";

/** A declaration as it is on the wire. The agent may know types that are unknown here. */
export type McpDeclaration = McpServer | UnknownDeclaration;

export interface UnknownDeclaration {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type RemoteDeclaration = Extract<McpServer, { type: "http" | "sse" }>;
export type HttpDeclaration = Extract<McpServer, { type: "http" }>;
export type StdioDeclaration = Extract<McpServer, { command: string }>;

/** A server in this process. */
export type InProcessServer = Pick<InProcessServerSpec, "name" | "open">;
export type { ConnectableServer, McpTransport } from "../../domain/mcp.ts";

/** The transports that an agent supports besides stdio: `agentCapabilities.mcpCapabilities` as it came. */
export interface McpSupport {
  readonly http?: unknown;
  readonly sse?: unknown;
  readonly acp?: unknown;
}

export function isInProcess(server: McpDeclaration | InProcessServer): server is InProcessServer {
  return typeof (server as { open?: unknown }).open === "function";
}

/** True for a server that is reached over HTTP. Other addresses (`acp:…`) are up to the agent. */
export function isRemote(server: McpDeclaration): server is RemoteDeclaration {
  const { type, url } = server as { type?: unknown; url?: unknown };
  return (type === "http" || type === "sse") && typeof url === "string" && /^https?:/i.test(url);
}

/** ACP 1 uses `true`, the draft of ACP 2 uses `{}`. */
export function advertises(support: McpSupport | null | undefined, kind: keyof McpSupport): boolean {
  const value = support?.[kind];
  return value === true || (typeof value === "object" && value !== null);
}
