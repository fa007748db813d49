// The baseline of a pool: the same worktrees, agents and prompts at the same concurrency, without a log.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** Resolves when all tasks are done. */
export async function runBare({ repository, env, command, count, atOnce }) {
  let given = 0;
  const work = async () => {
    for (let task = given++; task < count; task = given++) await one(`bare-${task}`);
  };
  const one = async (name) => {
    const cwd = join(repository, ".bare", name);
    await add({ repository, env, name, cwd });
    await prompted({ command, env, cwd });
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Runs git commands one at a time, as git requires. */
let last = Promise.resolve();
function add({ repository, env, name, cwd }) {
  const git = () => promisify(execFile)("git", ["worktree", "add", "-q", "-b", name, cwd], { cwd: repository, env });
  return (last = last.then(git));
}

async function prompted({ command: [file, ...args], env, cwd }) {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const call = async (method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: method, method, params })}\n`);
    const { result, error } = JSON.parse((await lines.next()).value);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await call("session/new", { cwd, mcpServers: [] });
  await call("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  child.stdin.end();
  await ended;
}
