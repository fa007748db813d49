/** Converts MCP servers to Codex's configuration format. */
import { OFFERED_NAME } from "../offered-tools.ts";
import type { ReachableServer } from "../program/index.ts";

export type CodexServerTable = Readonly<
  Record<string, string | number | readonly string[] | Readonly<Record<string, string>>>
>;

export interface CodexServers {
  readonly tables: Readonly<Record<string, CodexServerTable>>;
  /** One message per server that Codex cannot reach. */
  readonly left: readonly string[];
}

/** Timeout of Rookery's tools, which may wait for a person. Codex's default is one minute (0.166.0). */
const CALL_TIMEOUT_SECONDS = 24 * 60 * 60;

export function includesOfferedServer(servers: readonly ReachableServer[]): boolean {
  return servers.some(({ name }) => name === OFFERED_NAME);
}

/** Includes secrets: only for the protocol, never for arguments, which every user of the machine can see. */
export function toServerTables(servers: readonly ReachableServer[]): CodexServers {
  const left = servers.filter(({ type }) => type === "sse").map(formatUnreachable);
  const usable = servers.filter(({ type }) => type !== "sse");
  return { tables: Object.fromEntries(usable.map((spec) => [toServerName(spec), toServerTable(spec)])), left };
}

/**
 * For arguments: secrets go into environment variables with unique names. `exec` refuses a tool that it would have to
 * ask for. Rookery decides about its own calls when they arrive; other calls are approved only if everything is allowed.
 */
export function buildServerArguments(
  servers: readonly ReachableServer[],
  allowsAll: boolean,
): {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly left: readonly string[];
} {
  const { tables, left } = toServerTables(servers);
  const env: Record<string, string> = {};
  const hide = (value: string): string => {
    const name = `ROOKERY_MCP_${Object.keys(env).length}_TOKEN`;
    env[name] = value;
    return name;
  };
  const args = Object.entries(tables).flatMap(([name, { http_headers, env: own, ...table }]) => {
    const headers = Object.entries((http_headers ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      hide(value),
    ]);
    for (const [key, value] of Object.entries((own ?? {}) as Record<string, string>)) env[key] ??= value;
    const all = {
      ...table,
      ...(headers.length > 0 && { env_http_headers: Object.fromEntries(headers) as Record<string, string> }),
      ...((allowsAll || name === OFFERED_NAME) && { default_tools_approval_mode: "approve" }),
      ...(own !== undefined && { env_vars: Object.keys(own) }),
    };
    return ["-c", `mcp_servers.${name}=${formatInlineToml(all)}`];
  });
  return { args, env, left };
}

function toServerTable(spec: ReachableServer): CodexServerTable {
  const seconds =
    spec.name === OFFERED_NAME ? CALL_TIMEOUT_SECONDS : spec.timeoutMs && Math.ceil(spec.timeoutMs / 1_000);
  const connect = spec.connectTimeoutMs && Math.ceil(spec.connectTimeoutMs / 1_000);
  const patience = {
    ...(seconds !== undefined && { tool_timeout_sec: seconds }),
    ...(connect !== undefined && { startup_timeout_sec: connect }),
  };
  if (spec.type !== "stdio") return { url: spec.url, http_headers: spec.headers, ...patience };
  const { command, args, env, cwd } = spec;
  return { command, args, env, ...(cwd !== undefined && { cwd }), ...patience };
}

/** Codex rejects the whole configuration because of other characters in a name (0.166.0). */
function toServerName({ name }: ReachableServer): string {
  return name.replaceAll(/[^\w-]/g, "_");
}

function formatUnreachable({ name }: ReachableServer): string {
  return `codex cannot reach the MCP server ${name}: it uses the deprecated SSE transport, and codex supports only stdio and streamable HTTP`;
}

/** Formats one-line TOML. JSON strings are valid TOML, except for control characters, which no name or URL has. */
function formatInlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInlineToml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)} = ${formatInlineToml(each)}`)
    .join(", ")} }`;
}
