/** MCP servers that are declared over ACP, as the protocol has them now and as it had them before. */
import type { McpDeclaration } from "../../mcp/index.ts";

export interface AcpDeclaration {
  readonly name: string;
  /** What whoever declared it knows it by. */
  readonly id: string;
  /** It is spoken to as the Rust SDK did before the official schema had any of it. */
  readonly underscored: boolean;
}

/** Undefined where it is reached in another way. */
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

/** The params with other servers in the places of those that are declared over ACP. */
export function replaceAcpServers(params: unknown, others: readonly McpDeclaration[]): unknown {
  const left = [...others];
  const mcpServers = listServers(params).map((server) => (toAcpDeclaration(server) && left.shift()) ?? server);
  return { ...(params as object), mcpServers };
}

function listServers(params: unknown): readonly unknown[] {
  const { mcpServers } = (params ?? {}) as { mcpServers?: unknown };
  return Array.isArray(mcpServers) ? mcpServers : [];
}
