/** Bundles the program of the child process, because Node 20 does not run TypeScript, and replaces its effect host. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { isOnPostgres, postgresStores } from "../support/postgres/plugin.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HERE = fileURLToPath(new URL("./", import.meta.url));
const EFFECTS = join(ROOT, "src", "effects", "index.ts");

export interface Bundle extends Disposable {
  readonly file: string;
}

/** Writes the bundle inside the repository, so that Node finds libsql and pg. */
export async function bundleChild(entry = "child.ts"): Promise<Bundle> {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "rookery-matrix-"));
  await build({
    input: join(HERE, entry),
    platform: "node",
    transform: { target: "node20.19" },
    external: ["libsql", "pg", /^@lydell\/node-pty/],
    plugins: [
      isOnPostgres() && postgresStores(),
      {
        name: "effects with boundaries",
        async resolveId(source, importer) {
          if (!source.endsWith("effects/index.ts") || importer === undefined) return null;
          const found = await this.resolve(source, importer, { skipSelf: true });
          return found?.id === EFFECTS ? join(HERE, "effects.ts") : null;
        },
      },
    ],
    output: { dir: folder, entryFileNames: "child.mjs", chunkFileNames: "[name]-[hash].mjs" },
    logLevel: "silent",
  });
  return {
    file: join(folder, "child.mjs"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
