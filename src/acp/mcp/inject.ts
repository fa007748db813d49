/** Puts servers into the request that sets a session up, beside those that the client gave. */
import type { McpDeclaration } from "./declaration.ts";

/** The requests that carry `mcpServers`. */
export const SESSION_SETUP_METHODS: ReadonlySet<string> = new Set([
  "session/new",
  "session/load",
  "session/resume",
  "session/fork",
]);

/**
 * Everything else stays as it came. Agents keep servers by name, and of two with one name they lose one: ours gets
 * another name then, with a number behind it.
 */
export function injectServers(params: unknown, servers: readonly McpDeclaration[]): unknown {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return params;
  const { mcpServers } = params as { mcpServers?: unknown };
  const given: unknown[] = Array.isArray(mcpServers) ? mcpServers : [];
  const taken = new Set(given.map(getServerName));
  const added = servers.map((server) => {
    const name = findFreeName(getServerName(server), taken);
    taken.add(name);
    return name === getServerName(server) ? server : { ...server, name };
  });
  return { ...params, mcpServers: [...given, ...added] };
}

function findFreeName(name: unknown, taken: ReadonlySet<unknown>): unknown {
  if (typeof name !== "string" || !taken.has(name)) return name;
  for (let number = 2; ; number += 1) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
}

function getServerName(server: unknown): unknown {
  return (server as { name?: unknown } | null | undefined)?.name;
}
