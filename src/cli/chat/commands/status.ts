/** `/usage` and `/mcp`. */
import { formatColumns, formatCount } from "../../format.ts";
import { toSingleLine } from "../../sanitize.ts";
import { formatUsageCost, formatUsageFacts } from "../../transcript/usage-facts.ts";
import type { ChatHost } from "../host.ts";

export async function showUsage(chat: ChatHost): Promise<void> {
  const { contextUsed, contextSize, usage } = chat.state;
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  if (contextUsed === undefined && formatUsageFacts(usage).length === 0) return chat.notice("no usage yet", "dim");
  const cached = cacheReadTokens === 0 ? "" : `, ${formatCount(cacheReadTokens)} from cache`;
  const size = contextSize === undefined ? "" : ` of ${formatCount(contextSize)}`;
  const rows = [
    ["input", `${formatCount(inputTokens)} tokens${cached}`],
    ["output", `${formatCount(outputTokens)} tokens`],
    ["cost", formatUsageCost(usage, "unknown")],
    ...(contextUsed === undefined ? [] : [["context", `${formatCount(contextUsed)}${size} tokens`]]),
  ];
  chat.notice(formatColumns(rows).trimEnd());
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
