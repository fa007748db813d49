/** Bundles a program for a test, because Node 20 does not run TypeScript. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type InputOptions } from "rolldown";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Bundle extends Disposable {
  readonly file: string;
}

/** Writes the bundle inside the repository, so that Node finds libsql and pg. `plugins`: of Rolldown. */
export async function bundleProgram(input: string, plugins: InputOptions["plugins"]): Promise<Bundle> {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "rookery-bundle-"));
  await build({
    input,
    platform: "node",
    transform: { target: "node20.19" },
    external: ["libsql", "pg", /^@lydell\/node-pty/],
    plugins,
    output: { dir: folder, entryFileNames: "program.mjs", chunkFileNames: "[name]-[hash].mjs" },
    logLevel: "silent",
  });
  return {
    file: join(folder, "program.mjs"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
