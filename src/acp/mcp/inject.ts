/** Adds MCP servers to the request that sets a session up. */
import type { McpDeclaration } from "./declaration.ts";

/** The requests with an `mcpServers` field. */
export const SESSION_SETUP_METHODS: ReadonlySet<string> = new Set([
  "session/new",
  "session/load",
  "session/resume",
  "session/fork",
]);

/**
 * Keeps all other fields. Agents store servers by name and would lose one of two with the same name, so an added server
 * gets a number appended if its name is taken.
 */
export function injectServers(params: unknown, servers: readonly McpDeclaration[]): unknown {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return params;
  const { mcpServers } = params as { mcpServers?: unknown };
  const existing: unknown[] = Array.isArray(mcpServers) ? mcpServers : [];
  const takenNames = new Set(existing.map(getServerName));
  const added = servers.map((server) => {
    const name = findFreeName(getServerName(server), takenNames);
    takenNames.add(name);
    return name === getServerName(server) ? server : { ...server, name };
  });
  return { ...params, mcpServers: [...existing, ...added] };
}

function findFreeName(name: unknown, takenNames: ReadonlySet<unknown>): unknown {
  if (typeof name !== "string" || !takenNames.has(name)) return name;
  for (let number = 2; ; number += 1) if (!takenNames.has(`${name}-${number}`)) return `${name}-${number}`;
}

function getServerName(server: unknown): unknown {
  return (server as { name?: unknown } | null | undefined)?.name;
}
