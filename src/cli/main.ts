#!/usr/bin/env node
/** The entry of the command line: answers `--version` by itself, refuses what cannot work, and loads the rest only then. */
import packageJson from "../../package.json" with { type: "json" };

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const args = process.argv.slice(2);

if (process.platform === "win32") {
  refuse("Rookery runs on Linux and macOS; on Windows, use WSL");
} else if (major < 20 || (major === 20 && minor < 19)) {
  refuse(`Rookery needs Node 20.19 or newer; this is ${process.version}`);
} else if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${packageJson.version}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  await runProgram(args, packageJson.version);
}

function refuse(message: string): void {
  process.stderr.write(`rookery: ${message}\n`);
  process.exitCode = 1;
}
