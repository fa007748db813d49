/** How one server is doing, and waiting for it to do otherwise. */
import { RookeryError } from "../../domain/errors.ts";
import type { McpServerState, McpStatus } from "../../domain/mcp.ts";
import type { McpServers } from "../../mcp/index.ts";

export function serverState(servers: McpServers, name: string): McpServerState {
  const found = servers.snapshot().servers.find((one) => one.name === name);
  if (found === undefined) throw new RookeryError("mcp_unknown", `there is no MCP server ${name} here`);
  return found;
}

/** Resolves when its status is none of these, or the signal fires. */
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
