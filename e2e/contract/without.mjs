// Simulates an older version of a program that lacks a subcommand.
// Usage: node without.mjs SUBCOMMAND PROGRAM ARGS…
import { spawn } from "node:child_process";

const [subcommand, program, ...args] = process.argv.slice(2);
if (args.includes(subcommand)) {
  process.stderr.write(`error: unrecognized subcommand '${subcommand}'\n`);
  process.exit(2);
}
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
