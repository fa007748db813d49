/** The MCP servers that a session is given: declared as ACP has them on the wire, or living in this process. */
import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { InProcessServerSpec } from "../../domain/mcp.ts";

/** As it is on the wire. A type that is not known here may be known to the agent. */
export type McpDeclaration = McpServer | UnknownDeclaration;

export interface UnknownDeclaration {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type RemoteDeclaration = Extract<McpServer, { type: "http" | "sse" }>;
export type HttpDeclaration = Extract<McpServer, { type: "http" }>;
export type StdioDeclaration = Extract<McpServer, { command: string }>;

/** Lives in this process. */
export type InProcessServer = Pick<InProcessServerSpec, "name" | "open">;
export type { ConnectableServer, McpTransport } from "../../domain/mcp.ts";

/** What an agent says that it takes beside stdio: `agentCapabilities.mcpCapabilities`, as it came. */
export interface McpSupport {
  readonly http?: unknown;
  readonly sse?: unknown;
  readonly acp?: unknown;
}

export function isInProcess(server: McpDeclaration | InProcessServer): server is InProcessServer {
  return typeof (server as { open?: unknown }).open === "function";
}

/** One that can be reached over HTTP; an address of another kind (`acp:…`) is the agent's to understand. */
export function isRemote(server: McpDeclaration): server is RemoteDeclaration {
  const { type, url } = server as { type?: unknown; url?: unknown };
  return (type === "http" || type === "sse") && typeof url === "string" && /^https?:/i.test(url);
}

/** The first version of ACP says `true`, the draft of the second says `{}`. */
export function advertises(support: McpSupport | null | undefined, kind: keyof McpSupport): boolean {
  const value = support?.[kind];
  return value === true || (typeof value === "object" && value !== null);
}
