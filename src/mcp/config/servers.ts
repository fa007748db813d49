/** Selects the servers of an agent from the declarations. */
import { RookeryError } from "../../domain/errors.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { resolveEntry } from "./entry.ts";
import type { ExpansionContext } from "./expansion.ts";
import { resolveTable } from "./table.ts";

/** The parts of the configuration that this module reads. */
export interface DeclaredServers {
  readonly mcp: ReadonlyMap<string, DeclaredServer>;
}
export interface ServerChoice {
  /** Default: all servers. */
  readonly mcp?: readonly string[] | undefined;
}

/**
 * Returns the enabled servers in the order of declaration. A server that cannot be resolved becomes `unusable` with a
 * reason.
 */
export function selectServers(
  config: DeclaredServers,
  agent: ServerChoice,
  place: ExpansionContext & { readonly cwd: string },
): McpServerSpec[] {
  return [...config.mcp.values()]
    .filter(({ name }) => agent.mcp?.includes(name) ?? true)
    .filter((declared) => isEnabled(declared))
    .map((declared) => resolveOrMarkUnusable(declared, place));
}

export function isEnabled(declared: DeclaredServer): boolean {
  return declared.source === ".mcp.json" || declared.table.enabled !== false;
}

/** Throws `config_invalid` with the file, the key and any missing variable. */
export function resolveServerSpec(
  declared: DeclaredServer,
  place: ExpansionContext,
): StdioServerSpec | RemoteServerSpec {
  return declared.source === ".mcp.json" ? resolveEntry(declared, place) : resolveTable(declared, place);
}

/** One bad declaration must not disable the other servers. */
function resolveOrMarkUnusable(declared: DeclaredServer, place: ExpansionContext): McpServerSpec {
  try {
    return resolveServerSpec(declared, place);
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return { type: "unusable", name: declared.name, reason: error.message };
  }
}
