/** The subcommands of `rookery store`. */
import { JSON_OPTION } from "../command-options.ts";
import type { CommandSpec } from "../command.ts";

export const storeCommands: readonly CommandSpec[] = [
  {
    name: "copy",
    summary: "copy everything to another store, for example from SQLite to PostgreSQL",
    arguments: [
      { name: "from", summary: "a database file, a home directory, or a postgres:// URL" },
      { name: "to", summary: "where to copy to, in the same form; must be empty or not exist" },
    ],
    options: [
      { flags: "--from-schema <name>", summary: "the schema of a source in PostgreSQL (default: store.schema)" },
      { flags: "--to-schema <name>", summary: "the schema of a target in PostgreSQL (default: store.schema)" },
      { flags: "--restart", summary: "delete an unfinished copy in the target and start again" },
      JSON_OPTION,
    ],
    notes:
      "Stop all processes that use the source first. The source stays unchanged. Until the copy is read back and compared,\n" +
      "no command opens the target. Passwords come from ROOKERY_STORE_PASSWORD, PGPASSWORD or store.password_file, or from\n" +
      "the URL. A home directory stands for the rookery.db in it.",
    examples: [
      "rookery store copy ~/.local/state/rookery postgres://rookery@db.example/rookery",
      "rookery store copy postgres://rookery@db.example/rookery backup.db",
    ],
    load: async () => (await import("./copy.ts")).copyStoreCommand,
  },
];
