// Starts the measured servers as processes: Rookery and the baseline.
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { builtEnvironment } from "../../dist/testing/index.js";
import { ask, asked, freePort, started } from "./program.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const CLI = here("../../dist/cli/main.cjs");
const TOKEN = "bench-bench-bench-bench-bench-bench-bench";
const START_MS = 30_000;

export async function startBare({ folder, agent }) {
  const command = [process.execPath, here("./bare.mjs"), JSON.stringify(agent.command)];
  const server = started(command, { cwd: folder, env: builtEnvironment({ home: folder }), output: "pipe" });
  const [port] = await once(server.stdout.setEncoding("utf8"), "data");
  let opened = 0;
  return {
    only: "agent_message_chunk",
    async openSession() {
      const url = `http://127.0.0.1:${port.trim()}/${(opened += 1)}`;
      return { url, headers: {}, prompt: () => ask(url, {}) };
    },
    [Symbol.asyncDispose]: () => server.end(),
  };
}

/** Rookery's configuration of the agent of ./burst.mjs. */
export function asAgent({ command }) {
  return `[agents.it]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`;
}

/** Rookery's configuration of the built-in agent with the model of ./model.mjs. */
export const OWN_AGENT = '[agents.it]\nbackend = "api"\nmodel = "anthropic/claude-sonnet-5"';

/** Node options for a server that reports its memory. See `memory`. */
export const WATCHED = ["--expose-gc", "--import", here("./memory.mjs")];

/** Node options for a server that reports its event loop delay. See `loop`. */
export const LOOP_WATCHED = ["--import", here("./loop.mjs")];

/** `toml` is the configuration, with an agent called `it`. `node` are Node options. */
export async function startRookery({ folder, toml, extra = {}, node = [] }) {
  const memory = join(folder, "memory.json");
  const env = builtEnvironment({ home: folder, extra: { ...extra, BENCH_MEMORY: memory } });
  const config = join(env.XDG_CONFIG_HOME, "rookery");
  await mkdir(config, { recursive: true });
  await writeFile(join(config, "rookery.toml"), `${toml}\n`);
  const port = await freePort();
  const command = [process.execPath, ...node, CLI, "serve", "--port", String(port), "--token", TOKEN];
  const from = performance.now();
  const server = started(command, { cwd: folder, env });
  const base = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  await Promise.race([
    answered(`${base}/v1/health`, headers),
    server.ended.then(([code]) =>
      Promise.reject(new Error(`rookery serve exited with code ${code}: ${server.words()}`)),
    ),
  ]);
  const firstAnswerMs = performance.now() - from;
  const said = async () => {
    await rm(memory, { force: true });
    process.kill(server.pid, "SIGUSR2");
    for (;;) {
      const text = await readFile(memory, "utf8").catch(() => undefined);
      if (text !== undefined) return JSON.parse(text);
      await sleep(5);
    }
  };
  return {
    only: '"message.delta"',
    pid: server.pid,
    base,
    headers,
    firstAnswerMs,
    post: (path, body) => ask(`${base}/v1/${path}`, body, headers),
    get: (path) => asked(`${base}/v1/${path}`, { headers }),
    remove: (path) => asked(`${base}/v1/${path}`, { method: "DELETE", headers }),
    async openSession() {
      const { id } = await this.post("sessions", { agent: "it", cwd: folder, permissions: "all" });
      return {
        id,
        url: `${base}/v1/sessions/${id}/events`,
        headers: { ...headers, accept: "text/event-stream" },
        prompt: () => this.post(`sessions/${id}/turns`, { input: "go" }),
      };
    },
    /** Only with `WATCHED`: the heap size after a garbage collection and the resident set size, in bytes. */
    memory: said,
    /** Only with `LOOP_WATCHED`: the longest event loop delay in milliseconds since the last call. */
    loop: said,
    [Symbol.asyncDispose]: () => server.end(),
  };
}

async function answered(url, headers) {
  for (const until = Date.now() + START_MS; ; await sleep(2)) {
    const ok = await fetch(url, { headers }).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > until) throw new Error(`${url} did not answer within ${START_MS} ms`);
  }
}
