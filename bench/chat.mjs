// Measures the chat on a pseudo-terminal: until its prompt appears, until a keystroke is echoed while events stream, and
// until a long session is shown.
import { spawn } from "@lydell/node-pty";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Rookery } from "../dist/index.js";
import { builtEnvironment, fault, startModelServer, temporaryFolder } from "../dist/testing/index.js";
import { median, printAlone, quantile } from "./table.mjs";

const CLI = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
const PROMPT = "❯";
const EVENTS_PER_SECOND = 1_000;
const LONG_SESSION = 100_000;
/** How long a text may take to appear. The benchmark fails then, instead of waiting forever. */
const MAX_WAIT_MS = 30_000;

export async function run({ quick = false } = {}) {
  const rounds = quick ? 5 : 21;
  const folder = await temporaryFolder();
  const model = await startModelServer(() => fault("stall"), { maxRequests: 10 });
  const extra = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake", TERM: "xterm-256color" };
  const env = builtEnvironment({ home: folder.path, extra });
  const scene = { folder: folder.path, env };
  const bare = [];
  const prompt = [];
  for (let round = 0; round <= rounds; round += 1) {
    const floor = await untilExit(scene, ["-e", "0"]);
    const shown = await untilPrompt(scene);
    if (round > 0) (bare.push(floor), prompt.push(shown)); // the first start writes the code cache
  }
  const echo = await measureEcho(scene, quick ? 20 : 100);
  const long = await measureLongSession(scene);
  await model.close();
  await folder[Symbol.asyncDispose]();
  const floor = median(bare);
  const start = median(prompt);
  return [
    { name: "floor: node -e 0 on a terminal", value: floor, unit: "ms" },
    {
      name: "rookery, until its prompt",
      value: start,
      unit: "ms",
      ratio: start / floor,
      target: "≤ 2.5× node",
      ok: start / floor <= 2.5,
    },
    row("a keystroke while 1,000 events a second stream, median", median(echo), "ms", 16),
    row("the same, 95 of 100", quantile(echo, 0.95), "ms", 16),
    row("a session of 100,000 events, until its end is shown", long.ms, "ms", 300),
    row("the same, peak memory when it is open for driving", long.megabytes, "MB", 150),
  ];
}

function row(name, value, unit, most) {
  return { name, value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

function start({ folder, env }, args) {
  const terminal = spawn(process.execPath, args, { cols: 100, rows: 30, cwd: folder, env });
  let output = "";
  const listeners = new Set();
  terminal.onData((data) => {
    output += data;
    for (const listener of listeners) listener();
  });
  const exited = new Promise((resolve) => terminal.onExit(resolve));
  const shows = (text) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        terminal.kill("SIGKILL");
        reject(new Error(`the chat did not show "${text}" within ${MAX_WAIT_MS / 1_000} s`));
      }, MAX_WAIT_MS);
      const check = () => {
        if (!output.includes(text)) return;
        clearTimeout(timer);
        listeners.delete(check);
        resolve(performance.now());
      };
      listeners.add(check);
      check();
    });
  return { terminal, exited, shows, forget: () => void (output = "") };
}

async function untilExit(scene, args) {
  const started = performance.now();
  await start(scene, args).exited;
  return performance.now() - started;
}

async function untilPrompt(scene) {
  const started = performance.now();
  const chat = start(scene, [CLI]);
  const shown = (await chat.shows(PROMPT)) - started;
  chat.terminal.write("\u0004");
  await chat.exited;
  return shown;
}

/** Another process drives the session; the chat follows its log. */
async function measureEcho(scene, count) {
  const rookery = await Rookery.open({ env: scene.env, cwd: scene.folder });
  const session = await rookery.openSession({ permissions: "none" });
  session.prompt("stream");
  const chat = start(scene, [CLI, "chat", session.id]);
  await chat.shows("drives this session");
  let seq = 0;
  const stream = setInterval(() => {
    const events = Array.from({ length: EVENTS_PER_SECOND / 50 }, () => ({
      type: "message.delta",
      messageId: "m1",
      text: `word ${(seq += 1)}${seq % 20 === 0 ? "\n\n" : " "}`,
      at: new Date().toISOString(),
      agent: session.state.agent,
    }));
    void rookery.store.appendAtHead({ sessionId: session.id, id: `bench-${seq}`, decide: () => events });
  }, 20);
  const times = [];
  let typed = "";
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, 40));
    const key = String.fromCharCode(97 + (index % 26));
    typed = index % 26 === 0 ? key : typed + key;
    chat.forget();
    const sent = performance.now();
    chat.terminal.write(index % 26 === 0 && index > 0 ? `\u0015${key}` : key);
    times.push((await chat.shows(typed)) - sent);
  }
  clearInterval(stream);
  chat.terminal.kill("SIGKILL");
  await chat.exited;
  await rookery.close();
  return times;
}

async function measureLongSession(scene) {
  const rookery = await Rookery.open({ env: scene.env, cwd: scene.folder });
  const session = await rookery.openSession({ permissions: "none" });
  const { id: sessionId, state } = session;
  await session[Symbol.asyncDispose]();
  const stamp = () => ({ at: new Date().toISOString(), agent: state.agent });
  for (let turn = 0; turn < LONG_SESSION / 100; turn += 1) {
    const turnId = `trn_${turn}`;
    const text = "A line of the answer that is about as long as most lines of an answer are.\n";
    const deltas = Array.from({ length: 97 }, () => ({ type: "message.delta", messageId: `m${turn}`, text }));
    const last = turn === LONG_SESSION / 100 - 1 ? "the very end" : "done";
    const events = [
      { type: "turn.started", input: [{ type: "text", text: `question ${turn}` }] },
      ...deltas,
      { type: "message.completed", messageId: `m${turn}`, text: last },
      { type: "turn.ended", outcome: { status: "done" } },
    ].map((body) => ({ ...body, ...stamp(), turnId }));
    await rookery.store.appendAtHead({ sessionId, id: `long-${turn}`, decide: () => events });
  }
  await rookery.close();
  const times = [];
  let megabytes = 0;
  for (let round = 0; round < 5; round += 1) {
    const started = performance.now();
    const chat = start(scene, [CLI, "chat", sessionId]);
    times.push((await chat.shows("question 999")) - started);
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // until the session is open for driving
    const [, kilobytes = 0] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${chat.terminal.pid}/status`, "utf8")) ?? [];
    megabytes = Math.max(megabytes, Number(kilobytes) / 1024);
    chat.terminal.write("\u0004");
    await chat.exited;
  }
  return { ms: median(times), megabytes };
}

await printAlone(import.meta.url, "Chat", run);
