/** Recognizes MCP servers that are declared over ACP, in the current and in earlier forms. */
import type { McpDeclaration } from "../../mcp/index.ts";

export interface AcpDeclaration {
  readonly name: string;
  /** The id that the declaring side uses. */
  readonly id: string;
  /** True for the form of the Rust SDK that preceded the official schema. */
  readonly underscored: boolean;
}

/** Undefined if the server is reached in another way. */
export function toAcpDeclaration(server: unknown): AcpDeclaration | undefined {
  if (typeof server !== "object" || server === null) return undefined;
  const { type, name, serverId, id, url } = server as Readonly<Record<string, unknown>>;
  if (typeof name !== "string") return undefined;
  if (type === "acp" && typeof serverId === "string") return { name, id: serverId, underscored: false };
  if (type === "acp" && typeof id === "string") return { name, id, underscored: true };
  if (typeof url === "string" && url.startsWith("acp:")) return { name, id: url, underscored: true };
  return undefined;
}

export function listAcpDeclarations(params: unknown): AcpDeclaration[] {
  return listServers(params).flatMap((server) => toAcpDeclaration(server) ?? []);
}

/** Replaces the servers that are declared over ACP, in order, by others. */
export function replaceAcpServers(params: unknown, others: readonly McpDeclaration[]): unknown {
  const left = [...others];
  const mcpServers = listServers(params).map((server) => (toAcpDeclaration(server) && left.shift()) ?? server);
  return { ...(params as object), mcpServers };
}

function listServers(params: unknown): readonly unknown[] {
  const { mcpServers } = (params ?? {}) as { mcpServers?: unknown };
  return Array.isArray(mcpServers) ? mcpServers : [];
}
