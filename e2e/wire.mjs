// A minimal ACP client without validation, for inspecting what an agent really sends: one JSON line per message.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const STDERR_LIMIT = 64 * 1024;

/**
 * Starts an agent as the leader of its own process group.
 * `answer(method, params)` answers the agent's requests: its result is sent, an exception is sent as the error, and
 * `undefined` sends no answer.
 */
export function startAgent({ command, env, cwd, answer = refuse }) {
  const [program, ...args] = command;
  const child = spawn(program, args, { env, cwd, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const started = performance.now();
  const agent = { child, trace: [], noise: [], stderr: "", exit: undefined };
  const pending = new Map();
  const watchers = new Set();
  let nextId = 0;

  const send = (message) => {
    keep("out", message);
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  const keep = (dir, message) => {
    const entry = { at: Math.round(performance.now() - started), dir, message };
    agent.trace.push(entry);
    for (const watcher of [...watchers]) watcher(entry);
  };

  const receive = async (message) => {
    keep("in", message);
    if (message.method === undefined) {
      pending.get(message.id)?.(message);
      pending.delete(message.id);
    } else if (message.id !== undefined) {
      const reply = { jsonrpc: "2.0", id: message.id };
      try {
        const result = await answer(message.method, message.params, agent);
        if (result !== undefined) send({ ...reply, result });
      } catch (error) {
        send({ ...reply, error: { code: error.code ?? -32603, message: error.message } });
      }
    }
  };

  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") continue;
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        agent.noise.push(line);
        continue;
      }
      void receive(message);
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text) => (agent.stderr = (agent.stderr + text).slice(-STDERR_LIMIT)));
  child.stdin.on("error", () => undefined);
  agent.exited = new Promise((resolve) => {
    child.once("error", (error) => resolve((agent.exit = { error: error.message })));
    child.once("exit", (code, signal) => resolve((agent.exit = { code, signal })));
  });

  agent.notify = (method, params) => send({ jsonrpc: "2.0", method, params });
  /** Resolves with the whole response, a result or an error. Rejects only on a timeout or if the agent exits. */
  agent.request = (method, params, timeoutMs = 30_000) => {
    const id = nextId++;
    const response = new Promise((resolve) => pending.set(id, resolve));
    const gone = agent.exited.then((exit) => {
      throw new Error(`the agent exited (${JSON.stringify(exit)}) before it answered ${method}\n${agent.stderr}`);
    });
    send({ jsonrpc: "2.0", id, method, params });
    const answered = within(timeoutMs, `an answer to ${method}`, Promise.race([response, gone]));
    // The caller may have given up, so the rejection must not count as unhandled.
    answered.catch(() => undefined);
    return answered;
  };
  /** Resolves with the first trace entry at or after `from` that passes the test, past or future. */
  agent.seen = (test, { from = 0, timeoutMs = 30_000 } = {}) => {
    const found = agent.trace.slice(from).find(test);
    if (found !== undefined) return Promise.resolve(found);
    let watcher;
    const arrival = new Promise((resolve) => {
      watcher = (entry) => test(entry) && resolve(entry);
      watchers.add(watcher);
    });
    return within(timeoutMs, "a message", arrival).finally(() => watchers.delete(watcher));
  };
  agent.endInput = () => child.stdin.end();
  /** Kills the whole process group. */
  agent.kill = async () => {
    signalGroup(child.pid, "SIGKILL");
    await agent.exited;
  };
  return agent;
}

/** Returns the processes whose environment has this home, including those outside the group. */
export function processesOf(home) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && read(pid, "environ").includes(`HOME=${home}`) && state(pid) !== "Z")
    .map((pid) => ({ pid, ...stat(pid), command: read(pid, "cmdline").replaceAll("\0", " ").trim() }));
}

export function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function refuse(method) {
  throw Object.assign(new Error(`this client does not support ${method}`), { code: -32601 });
}

function state(pid) {
  return /^\d+ \(.*\) (\S)/s.exec(read(pid, "stat"))?.[1];
}

function stat(pid) {
  const [, parent, group] = /^\d+ \(.*\) \S (\d+) (\d+)/s.exec(read(pid, "stat")) ?? [];
  return { parent: Number(parent), group: Number(group) };
}

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
