/** Which MCP servers are declared where, and which declaration of a name counts. */
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
  /** Of `.mcp.json`. */
  readonly entries?: ReadonlyMap<string, EntryServer>;
  readonly user: readonly TomlFile[];
}

/**
 * The repository's `rookery.toml` before its `.mcp.json` before the user's. Unlike elsewhere the whole table of a name
 * counts and not key by key: else a repository could have the secret headers of a user's server sent to its own URL.
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

/** A name that nobody declared would leave an agent without its server in silence. Throws `config_invalid`. */
export function refuseUnknownServers(files: readonly TomlFile[], declared: ReadonlyMap<string, DeclaredServer>): void {
  for (const { file, table } of files) {
    for (const [agent, { mcp = [] }] of Object.entries(table.agents ?? {})) {
      const unknown = mcp.find((name) => !declared.has(name));
      if (unknown === undefined) continue;
      const guess = didYouMean(unknown, declared.keys());
      const message = `${file}: agents.${agent}.mcp: there is no MCP server "${unknown}"${guess}; declare it as [mcp.NAME]`;
      throw new RookeryError("config_invalid", message);
    }
  }
}

function toTableServers(files: readonly TomlFile[], source: TableServer["source"]): TableServer[] {
  return files.flatMap(({ file, table }) =>
    Object.entries(table.mcp ?? {}).map(([name, table]) => ({ name, source, file, table })),
  );
}
