// The library under measurement: the build, or the store alone bundled on the fly while there is no build.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A module with openSqliteStore; children import the same one. */
export async function libraryUrl() {
  const built = join(root, "dist", "index.js");
  if (existsSync(built)) return pathToFileURL(built).href;
  const { build } = await import("rolldown");
  const file = join(root, "node_modules", ".cache", `rookery-bench-${process.pid}`, "store.mjs");
  await build({
    input: join(root, "src", "store", "index.ts"),
    platform: "node",
    external: ["libsql"],
    output: { file, codeSplitting: false },
    logLevel: "silent",
  });
  return pathToFileURL(file).href;
}
