// A scripted ACP agent that waits for a while, writes a file and commits it.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const [, , thinkMs] = process.argv;
let cwd;

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  "session/new": (params) => {
    cwd = params.cwd;
    return { sessionId: "s1" };
  },
  "session/prompt": async () => {
    await sleep(Number(thinkMs));
    await writeFile(join(cwd, "done.txt"), cwd);
    const git = (...args) => promisify(execFile)("git", args, { cwd });
    await git("add", "done.txt");
    await git("commit", "--quiet", "--message=Done");
    return { stopReason: "end_turn" };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  const result = await answers[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
