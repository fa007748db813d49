// Checks format, lint and types. Two commands run at a time, because the linter takes as long as all others together.
// Prints the output of each command when it ends, and exits with 1 if one failed.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Commands of a lane run one after another. */
const LANES = [
  ["eslint ."],
  ["prettier --check --log-level warn .", "tsc --noEmit", "tsc --noEmit -p web", "tsc --noEmit -p test/page"],
];

const results = await Promise.all(LANES.map(runLane));
process.exitCode = results.flat().every((passed) => passed) ? 0 : 1;

async function runLane(commands) {
  const passed = [];
  for (const command of commands) passed.push(await run(command));
  return passed;
}

/** Whether the command exited with 0. A lane continues after a failure, so that one run reports everything. */
async function run(command) {
  const [name, ...args] = command.split(" ");
  const child = spawn(join(root, "node_modules", ".bin", name), args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  const passed = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0));
  });
  process.stdout.write(`${passed ? "passed" : "FAILED"}: ${command}\n${Buffer.concat(output).toString()}`);
  return passed;
}
