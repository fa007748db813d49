/** Collects the declared MCP servers, and decides which declaration of a name applies. */
import { RookeryError } from "../domain/errors.ts";
import type { DeclaredServer, EntryServer, TableServer } from "../domain/mcp-declared.ts";
import { didYouMean } from "./nearest.ts";
import type { ConfigTable } from "./schema.ts";

/** A `rookery.toml`. */
interface TomlFile {
  readonly file: string;
  readonly table: ConfigTable;
}

interface DeclarationSources {
  readonly repository?: readonly TomlFile[];
  /** The entries of `.mcp.json`. */
  readonly entries?: ReadonlyMap<string, EntryServer>;
  readonly user: readonly TomlFile[];
}

/**
 * The repository's `rookery.toml` overrides its `.mcp.json`, which overrides the user's file. Tables are not merged
 * key by key as elsewhere, because a repository could then send the secret headers of a user's server to its own URL.
 */
export function declaredServers({
  repository = [],
  entries = new Map(),
  user,
}: DeclarationSources): ReadonlyMap<string, DeclaredServer> {
  const declared = new Map<string, DeclaredServer>();
  const all = [...toTableServers(repository, "rookery.toml"), ...entries.values(), ...toTableServers(user, "user")];
  for (const server of all) if (!declared.has(server.name)) declared.set(server.name, server);
  return declared;
}

/** Throws `config_invalid` if an agent names an undeclared server, which would otherwise be missing silently. */
export function refuseUnknownServers(files: readonly TomlFile[], declared: ReadonlyMap<string, DeclaredServer>): void {
  for (const { file, table } of files) {
    for (const [agent, { mcp = [] }] of Object.entries(table.agents ?? {})) {
      refuseUnknownServer({ file, path: `agents.${agent}.mcp`, names: mcp }, [...declared.keys()]);
    }
  }
}

interface NamedServers {
  readonly file: string;
  /** Where the names are in the file. */
  readonly path: string;
  readonly names: readonly string[] | undefined;
}

/** Throws `config_invalid` if one of the names is not declared. */
export function refuseUnknownServer({ file, path, names = [] }: NamedServers, declared: readonly string[]): void {
  const unknown = names.find((name) => !declared.includes(name));
  if (unknown === undefined) return;
  const guess = didYouMean(unknown, declared);
  const message = `${file}: ${path}: there is no MCP server "${unknown}"${guess}; declare it as [mcp.${unknown}]`;
  throw new RookeryError("config_invalid", message);
}

function toTableServers(files: readonly TomlFile[], source: TableServer["source"]): TableServer[] {
  return files.flatMap(({ file, table }) =>
    Object.entries(table.mcp ?? {}).map(([name, table]) => ({ name, source, file, table })),
  );
}
