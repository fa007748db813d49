// Prepares a clone: installs if node_modules is missing or older than the lock file, and builds if a source
// is newer than the build. Prints one line per step that it executes.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const at = (...parts) => join(root, ...parts);
const mtime = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

class Failure extends Error {}

export async function prepare({ build = false, force = false } = {}) {
  refuseWhatCannotWork();
  const installed = at("node_modules", ".package-lock.json");
  if (mtime(installed) < mtime(at("package-lock.json"))) {
    await alone("install", () => {
      if (mtime(installed) >= mtime(at("package-lock.json"))) return;
      step("Installing dependencies", "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
      const now = new Date();
      utimesSync(installed, now, now);
    });
  }
  if (!build) return;
  const built = at("node_modules", ".rookery-built");
  const isFresh = () => !force && existsSync(at("dist", "cli", "main.cjs")) && mtime(built) >= newestSource();
  if (isFresh()) return;
  await alone("build", () => {
    if (isFresh()) return;
    const started = new Date();
    const next = at("node_modules", ".rookery-next");
    const last = at("node_modules", ".rookery-last");
    const env = { ...process.env, ROOKERY_BUILD: next };
    for (const folder of [next, last]) rmSync(folder, { recursive: true, force: true });
    step("Building", process.execPath, [at("node_modules", "tsdown", "dist", "run.mjs"), "--logLevel", "error"], {
      env,
    });
    step("Building the page", process.execPath, [at("node_modules", "vite", "bin", "vite.js"), "build", at("web"), "--config", at("web", "vite.config.ts")], { env }); // prettier-ignore
    step("Collecting licences", process.execPath, [at("scripts", "licences.mjs")], { env, quiet: true });
    if (existsSync(at("dist"))) renameSync(at("dist"), last);
    renameSync(next, at("dist"));
    rmSync(last, { recursive: true, force: true });
    writeFileSync(built, "");
    utimesSync(built, started, started);
  });
}

function refuseWhatCannotWork() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (process.platform === "win32") throw new Failure("Rookery runs on Linux and macOS; on Windows, use WSL.");
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Failure(`Rookery needs Node 20.19 or newer; this is ${process.version}.`);
  }
}

function newestSource() {
  const files = ["src", "web"]
    .flatMap((folder) => readdirSync(at(folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  files.push(at("package.json"), at("tsdown.config.ts"), at("tsconfig.json"), at("scripts", "licences.mjs"));
  return Math.max(...files.map(mtime));
}

/** Two concurrent commands in a fresh clone must not install at the same time: the second one waits. */
async function alone(name, work) {
  const lock = at("node_modules", `.rookery-${name}.lock`);
  mkdirSync(at("node_modules"), { recursive: true });
  while (!taken(lock)) await new Promise((resolve) => setTimeout(resolve, 200));
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A lock whose process has ended is free. */
function taken(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!isAlive(Number(readFileSync(lock, { encoding: "utf8", flag: "a+" })))) rmSync(lock, { force: true });
    return false;
  }
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function step(what, command, args, { quiet = false, env = process.env } = {}) {
  if (!quiet) process.stderr.write(`${what}…\n`);
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, env, encoding: "utf8" });
  if (status !== 0) throw new Failure(`${what} failed.\n${stdout ?? ""}${stderr ?? ""}${error ?? ""}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    await prepare({ build: process.argv.includes("--build"), force: process.argv.includes("--force") });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
