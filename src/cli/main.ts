#!/usr/bin/env node
/**
 * Entry point of the command. Handles `--version` and unsupported platforms itself, then loads `program.cjs`, which is
 * `execute.ts` with all commands, bundled.
 */
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { homeFolder } from "../config/home.ts";
import { loadCached } from "./code-cache.ts";
import { formatOutputError } from "./errno.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const args = process.argv.slice(2);
const { version } = packageJson;

if (process.platform === "win32") {
  refuse("Rookery runs on Linux and macOS; on Windows, use WSL");
} else if (major < 20 || (major === 20 && minor < 19)) {
  refuse(`Rookery needs Node 20.19 or newer; this is ${process.version}`);
} else if (args.length === 1 && (args[0] === "--version" || args[0] === "-V" || args[0] === "-v")) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") refuse(formatOutputError(error));
  });
  process.stdout.write(`${version}\n`);
} else {
  const isChat = args[0] === undefined ? process.stdin.isTTY : /^-|\s/.test(args[0]); // options of the chat, or a prompt
  const command = isChat ? "chat" : (/^[a-z]{1,20}$/.exec(args[0] ?? "welcome")?.[0] ?? "other");
  const program = loadCached({
    file: join(__dirname, "program.cjs"), // beside this file after the build, which makes CommonJS (ADR 0007)
    require,
    home: homeOrNone(),
    name: command, // one cache per command
    stamp: `${version} ${process.version} ${process.arch}`,
  }) as typeof import("./execute.ts");
  program.runCommandLine(args, version).catch((error: unknown) => {
    throw error; // runCommandLine handles errors itself, so this is a defect; let Node print it
  });
}

/** Returns undefined if no home is found; commands that need one report the error. */
function homeOrNone(): string | undefined {
  try {
    return homeFolder(process.env);
  } catch {
    return undefined;
  }
}

function refuse(message: string): void {
  process.stderr.write(`rookery: ${message}\n`);
  process.exitCode = 1;
}
