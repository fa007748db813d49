// Compiles the built command once, so that the tests, which start it hundreds of times in new homes, do not compile it
// each time. V8 accepts the cache only for the same build and the same Node; without it, a start takes twice as long.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = join(root, "dist", "cli", "main.cjs");
const program = join(root, "dist", "cli", "program.cjs");

/** The file that `linkCodeCache` in src/cli/test-command.ts puts into the homes of tests. */
export const warmCache = join(root, "node_modules", ".rookery-code-cache", `${process.version}.v8`);

export function warmCodeCache() {
  if (!existsSync(program)) return;
  if (existsSync(warmCache) && statSync(warmCache).mtimeMs >= statSync(program).mtimeMs) return;
  const folder = mkdtempSync(join(tmpdir(), "rookery-warm-"));
  try {
    const env = { PATH: process.env.PATH ?? "", HOME: folder, ROOKERY_HOME: join(folder, "home") };
    mkdirSync(join(folder, "home"));
    // The demo runs a whole turn without a key, so its cache has most of what the other commands use.
    const { status } = spawnSync(process.execPath, [main, "demo"], { cwd: folder, env, stdio: "ignore" });
    const made = join(folder, "home", "cache", "demo.v8");
    if (status !== 0 || !existsSync(made)) return;
    mkdirSync(dirname(warmCache), { recursive: true });
    const part = `${warmCache}.${process.pid}`;
    copyFileSync(made, part);
    renameSync(part, warmCache);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
