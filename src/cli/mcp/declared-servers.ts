/** Finds declared MCP servers by name. */
import { didYouMean } from "../../config/nearest.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, RemoteServerSpec } from "../../domain/mcp.ts";
import type { ServersFound } from "../../rookery.ts";
import { usageError } from "../exit.ts";

/** Throws `mcp_unknown`, `mcp_unavailable` for a disabled server, or `config_invalid`. */
export function findServerSpec({ declared, specs }: ServersFound, name: string): McpServerSpec {
  const { file } = findDeclaredServer(declared, name);
  const spec = specs.find((one) => one.name === name);
  if (spec === undefined) throw new RookeryError("mcp_unavailable", `${name} is disabled: see mcp.${name} in ${file}`);
  if (spec.type === "unusable") throw new RookeryError("config_invalid", spec.reason);
  return spec;
}

/** Throws `mcp_unknown`. */
export function findDeclaredServer(declared: readonly DeclaredServer[], name: string): DeclaredServer {
  const found = declared.find((one) => one.name === name);
  if (found !== undefined) return found;
  const guess = didYouMean(
    name,
    declared.map((one) => one.name),
  );
  throw new RookeryError(
    "mcp_unknown",
    `no MCP server "${name}"${guess} is declared here; list them: rookery mcp list`,
  );
}

/** Throws `usage` for a local program. */
export function requireRemoteServer(spec: McpServerSpec): RemoteServerSpec {
  if (spec.type === "http" || spec.type === "sse") return spec;
  throw usageError(`${spec.name} is a local program and has no login; pass its credentials in env`);
}
