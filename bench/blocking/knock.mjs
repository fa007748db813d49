// Another client: asks for the server's health every 5 ms, whether the last answer has come or not, and says for each line
// on its input how long it waited at most since the one before, by the clock and in CPU time that the server's main thread
// had meanwhile. Alone it is that program; `startKnocking` starts it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { mainThreadCpu } from "../server/main-thread.mjs";

const EVERY_MS = 5;

/** `{ longest(), end() }`; `longest` resolves with `{ wait, cpu }`, in milliseconds. */
export async function startKnocking({ base, headers, pid }) {
  const args = [fileURLToPath(import.meta.url), `${base}/v1/health`, JSON.stringify(headers), String(pid)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const longest = async () => {
    child.stdin.write("\n");
    return JSON.parse((await lines.next()).value);
  };
  await longest();
  return {
    longest,
    end() {
      child.stdin.end();
      return once(child, "exit");
    },
  };
}

function knock(url, headers, pid) {
  const agent = new Agent({ keepAlive: true });
  const waiting = new Set();
  const cpuTime = mainThreadCpu(pid) ?? (() => 0);
  let longest = { wait: 0, cpu: 0 };
  const timer = setInterval(() => {
    const from = performance.now();
    const cpuFrom = cpuTime();
    waiting.add(from);
    const over = () => {
      waiting.delete(from);
      const wait = Math.max(longest.wait, performance.now() - from);
      longest = { wait, cpu: Math.max(longest.cpu, cpuTime() - cpuFrom) };
    };
    get(url, { agent, headers }, (response) => response.resume().on("end", over)).on("error", over);
  }, EVERY_MS);
  const lines = createInterface(process.stdin);
  lines.on("line", async () => {
    for (const open = [...waiting]; open.some((from) => waiting.has(from));) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    console.log(JSON.stringify(longest));
    longest = { wait: 0, cpu: 0 };
  });
  lines.on("close", () => {
    clearInterval(timer);
    process.exit();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  knock(process.argv[2], JSON.parse(process.argv[3]), process.argv[4]);
