/** `/usage` and `/mcp`. */
import { formatColumns } from "../../format.ts";
import { toSingleLine } from "../../sanitize.ts";
import { formatUsage } from "../../transcript/turn-view.ts";
import type { ChatHost } from "../host.ts";

export async function showUsage(chat: ChatHost): Promise<void> {
  const { contextUsed, contextSize, usage } = chat.state;
  const context =
    contextUsed === undefined ? [] : [`${contextUsed} of ${contextSize ?? "an unknown number of"} tokens in context`];
  chat.notice([...formatUsage(usage), ...context].join("\n"));
}

export async function showServers(chat: ChatHost): Promise<void> {
  await chat.connection.open();
  const { session } = chat.connection;
  if (session === undefined) return chat.notice("another process drives this session; ask there", "dim");
  const { servers } = session.tools.servers();
  if (servers.length === 0) return chat.notice("no MCP server is declared here; see rookery mcp --help", "dim");
  const rows = servers.map(({ name, status, reason = "" }) => [
    name,
    status.replace("_", " "),
    toSingleLine(reason, 80),
  ]);
  chat.notice(formatColumns(rows).trimEnd());
}
