// Installs the real programs next to this file if they are missing or the lock file has changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const stamp = join(folder, "node_modules", ".rookery-installed");

export function install() {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  // Writes the stamp last, so that an interrupted installation is repeated.
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stderr.write("Installing the agents of the end-to-end suite (about 1 GB)…\n");
  // --ignore-scripts: node-pty and keytar would be compiled, and Gemini works without them.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stdout, stderr, error } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ci failed in e2e/.\n${stdout ?? ""}${stderr ?? ""}${error ?? ""}`);
  writeFileSync(stamp, wanted);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) install();
