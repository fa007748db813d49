// Programs as processes that are surely gone in the end, and what they answer over HTTP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "../../dist/testing/index.js";

const START_MS = 60_000;
const LEAVE_MS = 3_000;
const MAX_WORDS = 2_000;

const running = new Set();
process.once("exit", () => {
  for (const pid of running) signal(pid, "SIGKILL");
});
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => process.exit(1));

/** In a group of its own, which is killed with all that is left in it. */
export function started([file, ...args], { cwd, env, output = "ignore" }) {
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", output, "pipe"], detached: true });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (words = (words + text).slice(-MAX_WORDS)));
  const ended = once(child, "exit");
  running.add(child.pid);
  ended.then(
    () => running.delete(child.pid),
    () => running.delete(child.pid), // it could not be started
  );
  return {
    pid: child.pid,
    stdout: child.stdout,
    ended,
    /** The last that it said on its standard error output. */
    words: () => words,
    async end() {
      signal(child.pid, "SIGTERM");
      await Promise.race([ended, sleep(LEAVE_MS, undefined, { ref: false })]);
      signal(child.pid, "SIGKILL");
      await ended;
    },
  };
}

/** opencode takes connections before it answers any, and never answers those. */
export async function whenAnswered(url) {
  for (const until = Date.now() + START_MS; ; await sleep(20)) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    if (Date.now() > until) throw new Error(`${url} did not answer within ${START_MS} ms`);
  }
}

/** Posts JSON and gives the JSON of the answer. */
export function ask(url, body, headers = {}) {
  return asked(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** The JSON of the answer; one that is not good is an error. */
export async function asked(url, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** What `work` gives, with what `start` makes in a temporary folder, and with that; both are gone in the end. */
export async function within(start, work) {
  const folder = await temporaryFolder();
  let server;
  try {
    server = await start(folder.path);
    return await work(server, folder.path);
  } finally {
    await server?.[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  }
}

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
