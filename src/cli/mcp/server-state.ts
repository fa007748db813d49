/** Reads the state of an MCP server, and waits for it to change. */
import { RookeryError } from "../../domain/errors.ts";
import type { McpServerState, McpStatus } from "../../domain/mcp.ts";
import type { McpServers } from "../../mcp/index.ts";

export function serverState(servers: McpServers, name: string): McpServerState {
  const found = servers.snapshot().servers.find((one) => one.name === name);
  if (found === undefined) throw new RookeryError("mcp_unknown", `no MCP server ${name} is declared here`);
  return found;
}

/** Resolves when the status is none of `statuses`, or the signal aborts. */
export async function waitWhileStatus(
  servers: McpServers,
  name: string,
  statuses: readonly McpStatus[],
  signal: AbortSignal,
): Promise<void> {
  const isOver = (): boolean => !statuses.includes(serverState(servers, name).status);
  if (isOver() || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const stop = servers.onChange(() => {
      if (isOver()) done();
    });
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
  });
}
