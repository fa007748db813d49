/** A plugin for Vite and Rolldown that puts PostgreSQL behind every store and every command of the tests. */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const SRC = fileURLToPath(new URL("../../../src/", import.meta.url));

/** Modules of src/, and what replaces each of them. */
const REPLACEMENTS = new Map([
  [join(SRC, "store", "memory.ts"), join(HERE, "memory.ts")],
  [join(SRC, "store", "sqlite", "open.ts"), join(HERE, "sqlite.ts")],
  [join(SRC, "testing", "environment.ts"), join(HERE, "environment.ts")],
]);

/** Set by `npm run test:postgres`. */
export function isOnPostgres(): boolean {
  return process.env["ROOKERY_TEST_STORE"] === "postgres";
}

export function postgresStores() {
  return {
    name: "PostgreSQL behind every store",
    enforce: "pre" as const,
    /** The replacements themselves import the modules that they replace. */
    resolveId(source: string, importer: string | undefined): string | null {
      if (importer === undefined || !source.startsWith(".") || importer.startsWith(HERE)) return null;
      return REPLACEMENTS.get(resolve(dirname(importer), source)) ?? null;
    },
  };
}
