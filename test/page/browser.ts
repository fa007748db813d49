/** Starts a real browser for tests: Chromium from npm, or the one of the system. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { builtEnvironment } from "../../src/testing/index.ts";

const SYSTEM_BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export type BrowserFound =
  { readonly executable: string; readonly args: readonly string[] } | { readonly missing: string };

/** `missing` is the reason why no browser can run here. */
export async function findBrowser(): Promise<BrowserFound> {
  const reasons: string[] = [];
  if (process.platform === "linux" && process.arch === "x64") {
    try {
      const { default: bundled } = await import("@sparticuz/chromium");
      const executable = await bundled.executablePath();
      execFileSync(executable, ["--version"], { stdio: "ignore", timeout: 20_000 });
      return { executable, args: bundled.args.filter((arg) => !/^--(headless|window-size|single-process)/.test(arg)) };
    } catch (error) {
      reasons.push(`@sparticuz/chromium does not start (${String(error).split("\n", 1)[0] ?? ""})`);
    }
  }
  const executable = SYSTEM_BROWSERS.find((path) => existsSync(path));
  if (executable !== undefined) return { executable, args: ["--no-sandbox"] };
  return { missing: [...reasons, "no Chromium or Chrome is installed"].join("; ") };
}

export async function startBrowser(home: string): Promise<Browser> {
  const found = await findBrowser();
  if ("missing" in found) throw new Error(found.missing);
  return chromium.launch({
    executablePath: found.executable,
    args: [...found.args, "--disable-background-networking", "--disable-component-update"],
    env: builtEnvironment({ home }),
  });
}
