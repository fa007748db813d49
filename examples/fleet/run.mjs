// The whole example: creates the sample, starts `rookery serve`, plays the story, and prints the resulting repository.
// node examples/fleet/run.mjs [FOLDER]
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { makeSample } from "./sample.mjs";
import { playStory } from "./story.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const [, , kept] = process.argv;
const folder = kept === undefined ? mkdtempSync(join(tmpdir(), "rookery-fleet-")) : resolve(kept);
const home = join(folder, "home");
// No keys or settings of the real user, and a separate log.
const env = {
  PATH: process.env.PATH,
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_STATE_HOME: join(home, ".state"),
  ROOKERY_HOME: join(home, "rookery"),
  GIT_CONFIG_NOSYSTEM: "1",
};

const { repository } = makeSample(folder, env);
execFileSync(process.execPath, [CLI, "trust", repository], { env });
const server = spawn(process.execPath, [CLI, "serve", "--port", "0"], {
  env,
  cwd: folder,
  stdio: ["ignore", "ignore", "inherit"],
});
try {
  const { url, token } = await announced(join(env.ROOKERY_HOME, "server.json"));
  console.log(`${url} serves ${repository}\n`);
  await playStory({ url, token, repository, tell: (line) => console.log(line), onEvent: show });
} finally {
  server.kill("SIGTERM");
  if (server.exitCode === null) await once(server, "exit");
}
const history = ["log", "--graph", "--format=%s", "main"];
console.log(`\n${execFileSync("git", history, { cwd: repository, env, encoding: "utf8" }).trimEnd()}`);
if (kept === undefined) rmSync(folder, { recursive: true, force: true });

/** The server writes its address into a file that only its user can read. */
async function announced(file) {
  while (!existsSync(file)) {
    if (server.exitCode !== null) throw new Error(`rookery serve exited with code ${server.exitCode}`);
    await sleep(20);
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Formats an event as one line, or nothing if people do not need it. */
function show(event) {
  const line = (words) => console.log(`  ${event.taskId.padEnd(12)}${words}`);
  if (event.type === "task.started") line("starts");
  if (event.type === "stage.ended" && !event.passed) line(`goes back: ${event.message.trim().split("\n").at(-1)}`);
  if (event.type === "task.ended") line(event.outcome);
  if (event.type === "merge.ended") line(event.outcome);
  if (event.type === "message.completed") console.log(`  ${event.agent} says: ${event.text.trim().split("\n").at(-1)}`);
}
