// Starts programs that are reliably ended afterwards, and sends HTTP requests to them.
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

/** Starts a program in its own process group, which is killed at the end. */
export function started([file, ...args], { cwd, env, output = "ignore" }) {
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", output, "pipe"], detached: true });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (words = (words + text).slice(-MAX_WORDS)));
  const ended = once(child, "exit");
  running.add(child.pid);
  ended.then(
    () => running.delete(child.pid),
    () => running.delete(child.pid), // the start failed
  );
  return {
    pid: child.pid,
    stdout: child.stdout,
    ended,
    /** Returns the end of its stderr. */
    words: () => words,
    async end() {
      signal(child.pid, "SIGTERM");
      await Promise.race([ended, sleep(LEAVE_MS, undefined, { ref: false })]);
      signal(child.pid, "SIGKILL");
      await ended;
    },
  };
}

/** Retries connections, because opencode never answers those that it accepts too early. */
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

/** Posts JSON and resolves with the JSON of the response. */
export function ask(url, body, headers = {}) {
  return asked(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Resolves with the JSON of the response. Rejects if the status is not 2xx. */
export async function asked(url, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Runs `work` with the result of `start` and a temporary folder. Cleans up both afterwards. */
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
