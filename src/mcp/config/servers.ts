/** The servers that an agent is given in a session, out of those that files declare. */
import { RookeryError } from "../../domain/errors.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { specOfEntry } from "./entry.ts";
import type { Place } from "./expansion.ts";
import { specOfTable } from "./table.ts";

/** As `Config` of `src/config` and an agent of it have them. */
export interface DeclaredServers {
  readonly mcp: ReadonlyMap<string, DeclaredServer>;
}
export interface ServerChoice {
  /** All if not said. */
  readonly mcp?: readonly string[] | undefined;
}

/** Those that are not switched off, in the order of declaration. One that cannot be used as it stands says why. */
export function serversFor(
  config: DeclaredServers,
  agent: ServerChoice,
  place: Place & { readonly cwd: string },
): McpServerSpec[] {
  return [...config.mcp.values()]
    .filter(({ name }) => agent.mcp?.includes(name) ?? true)
    .filter((declared) => isEnabled(declared))
    .map((declared) => usableSpec(declared, place));
}

export function isEnabled(declared: DeclaredServer): boolean {
  return declared.source === ".mcp.json" || declared.table.enabled !== false;
}

/** Throws `config_invalid`, which names the file, the key and a variable that is missing. */
export function specOf(declared: DeclaredServer, place: Place): StdioServerSpec | RemoteServerSpec {
  return declared.source === ".mcp.json" ? specOfEntry(declared, place) : specOfTable(declared, place);
}

/** A server that is declared badly is no reason to be without the others. */
function usableSpec(declared: DeclaredServer, place: Place): McpServerSpec {
  try {
    return specOf(declared, place);
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return { type: "unusable", name: declared.name, reason: error.message };
  }
}
