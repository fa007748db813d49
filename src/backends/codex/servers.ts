/** The MCP servers that Codex is given, in the words of its configuration. */
import { OFFERED_NAME } from "../offered.ts";
import type { ReachableServer } from "../program/index.ts";

export type ServerTable = Readonly<
  Record<string, string | number | readonly string[] | Readonly<Record<string, string>>>
>;

export interface GivenToCodex {
  readonly tables: Readonly<Record<string, ServerTable>>;
  /** What it cannot reach, in words. */
  readonly left: readonly string[];
}

/** A call of ours may wait for a person, and Codex gives a call up after a minute (0.166.0) where nothing is said. */
const WAITS_SECONDS = 24 * 60 * 60;

export function hasOurs(servers: readonly ReachableServer[]): boolean {
  return servers.some(({ name }) => name === OFFERED_NAME);
}

/** With their secrets: for the protocol, never for arguments, which every user of the machine can see. */
export function serverTables(servers: readonly ReachableServer[]): GivenToCodex {
  const left = servers.filter(({ type }) => type === "sse").map(unreachable);
  const usable = servers.filter(({ type }) => type !== "sse");
  return { tables: Object.fromEntries(usable.map((spec) => [nameOf(spec), tableOf(spec)])), left };
}

/**
 * For arguments: what is secret is in the environment, under names that nothing else has. `exec` refuses a tool that it
 * would have to ask for: calls of ours are decided when they arrive, and those of others only where all is allowed.
 */
export function serverArguments(
  servers: readonly ReachableServer[],
  allowsAll: boolean,
): {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly left: readonly string[];
} {
  const { tables, left } = serverTables(servers);
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
    return ["-c", `mcp_servers.${name}=${inline(all)}`];
  });
  return { args, env, left };
}

function tableOf(spec: ReachableServer): ServerTable {
  const seconds = spec.name === OFFERED_NAME ? WAITS_SECONDS : spec.timeoutMs && Math.ceil(spec.timeoutMs / 1_000);
  const connect = spec.connectTimeoutMs && Math.ceil(spec.connectTimeoutMs / 1_000);
  const patience = {
    ...(seconds !== undefined && { tool_timeout_sec: seconds }),
    ...(connect !== undefined && { startup_timeout_sec: connect }),
  };
  if (spec.type !== "stdio") return { url: spec.url, http_headers: spec.headers, ...patience };
  const { command, args, env, cwd } = spec;
  return { command, args, env, ...(cwd !== undefined && { cwd }), ...patience };
}

/** Other names are refused with the whole configuration (0.166.0). */
function nameOf({ name }: ReachableServer): string {
  return name.replaceAll(/[^\w-]/g, "_");
}

function unreachable({ name }: ReachableServer): string {
  return `codex cannot reach the MCP server ${name}: it is of the old kind, with SSE, and codex speaks streamable HTTP`;
}

/** TOML on one line; its strings are those of JSON, but for the characters that no name or address has. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)} = ${inline(each)}`)
    .join(", ")} }`;
}
