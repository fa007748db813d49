// Drives the scripted agent in a separate process, prints the measurement and exits. Started by ../backends.mjs.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Rookery } from "../../dist/index.js";
import { builtEnvironment } from "../../dist/testing/index.js";

const AGENT = fileURLToPath(new URL("./agent.mjs", import.meta.url));

/** The candidates. Each opens the agent and runs prompts, and reports every text with its arrival time. */
const ways = {
  async raw({ env }) {
    const child = spawn(process.execPath, [AGENT, "claude"], { env, stdio: ["pipe", "pipe", "inherit"] });
    let heard = () => undefined;
    createInterface({ input: child.stdout }).on("line", (line) => heard(JSON.parse(line)));
    const say = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
    const until = (found) => new Promise((resolve) => (heard = (record) => found(record) && resolve()));
    say({ type: "control_request", request_id: "1", request: { subtype: "initialize" } });
    await until(({ type }) => type === "control_response");
    return {
      prompt: async (what, onText) => {
        say({ type: "user", message: { role: "user", content: JSON.stringify(what) } });
        await until(({ type, event }) => {
          if (event?.delta !== undefined) onText(event.delta.text);
          return type === "result";
        });
      },
      close: () => void child.kill(),
    };
  },

  claude: (scene) => driven(scene, `backend = "claude-code"\ncommand = ${command("claude")}`),
  command: (scene) => driven(scene, `backend = "command"\ncommand = ${command("lines", "{prompt}")}`),
};

async function driven(scene, toml) {
  const { rookery } = await opened(scene, toml);
  const session = await rookery.openSession({ agent: "it", permissions: "all" });
  return {
    prompt: async (what, onText) => {
      for await (const event of session.prompt(JSON.stringify(what))) {
        if (event.type === "message.delta") onText(event.text);
        else if (event.type === "agent.raw") onText(event.data.event?.delta?.text ?? "");
        else if (event.type === "turn.ended" && event.outcome.status !== "done") throw new Error(JSON.stringify(event));
      }
    },
    close: () => rookery[Symbol.asyncDispose](),
  };
}

async function opened({ env, home }, toml) {
  const folder = join(env.XDG_CONFIG_HOME, "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), `[agents.it]\n${toml}\n`);
  return { rookery: await Rookery.open({ env, cwd: home }) };
}

function command(...args) {
  return JSON.stringify([process.execPath, AGENT, ...args]);
}

const measures = {
  /** Records per second, from the prompt until all records are in the log and read from it. */
  async rate(scene, { way, count }) {
    const { prompt, close } = await ways[way](scene);
    const all = async (wanted) => {
      let length = 0;
      await prompt({ count: wanted }, (text) => (length += text.length));
      if (length !== wanted * 180) throw new Error(`${wanted * 180 - length} characters were lost`);
    };
    await all(Math.ceil(count / 5)); // warm up
    const started = performance.now();
    await all(count);
    const rate = count / ((performance.now() - started) / 1000);
    await close();
    return rate;
  },

  /** Milliseconds from the writing of each record until its arrival. */
  async latency(scene, { way, count }) {
    const { prompt, close } = await ways[way](scene);
    const times = [];
    await prompt({ count, paceMs: 4 }, (text) => {
      const now = process.hrtime.bigint();
      for (const sent of text.trim().split(" ")) if (sent !== "") times.push(Number(now - BigInt(sent)) / 1e6);
    });
    await close();
    return times.slice(count / 5);
  },

  /** Milliseconds from the start to the first record. */
  async start(scene, { way }) {
    const other = await ways[way](scene); // warm up: loads modules
    await other.prompt({ count: 1 }, () => undefined);
    await other.close();
    const place =
      way === "raw" ? undefined : await opened(scene, `backend = "claude-code"\ncommand = ${command("claude")}`);
    const started = performance.now();
    let first;
    const heard = () => (first ??= performance.now() - started);
    if (place === undefined) {
      const { prompt, close } = await ways.raw(scene);
      await prompt({ count: 1 }, heard);
      close();
    } else {
      const session = await place.rookery.openSession({ agent: "it", permissions: "all" });
      for await (const event of session.prompt('{"count":1}')) if (event.type === "message.delta") heard();
      await place.rookery[Symbol.asyncDispose]();
    }
    return first;
  },

  /** Milliseconds until `count` agents that ignore all signals except SIGKILL have ended. */
  async close(scene, { count }) {
    const { rookery } = await opened(scene, `backend = "command"\ncommand = ${command("deaf")}`);
    const up = Array.from({ length: count }, async () => {
      const session = await rookery.openSession({ agent: "it" });
      for await (const { type } of session.prompt("wait")) if (type === "output.text") return;
    });
    await Promise.all(up);
    const started = performance.now();
    await rookery[Symbol.asyncDispose]();
    return performance.now() - started;
  },
};

const { measure, ...options } = JSON.parse(process.argv[2]);
const home = await mkdtemp(join(tmpdir(), "rookery-bench-"));
const scene = { home, env: builtEnvironment({ home }) };
const figure = await measures[measure](scene, options);
await rm(home, { recursive: true, force: true });
process.stdout.write(JSON.stringify(figure));
process.exit();
