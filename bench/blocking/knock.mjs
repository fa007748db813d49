// Requests the server's health every 5 ms without waiting for earlier responses. For each line of input, it prints the
// longest response time since the line before. `startKnocking` starts this file as a program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const EVERY_MS = 5;

/** Starts the program. Resolves with `{ longest(), end() }`. */
export async function startKnocking({ base, headers }) {
  const args = [fileURLToPath(import.meta.url), `${base}/v1/health`, JSON.stringify(headers)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const longest = async () => {
    child.stdin.write("\n");
    return Number((await lines.next()).value);
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

function knock(url, headers) {
  const agent = new Agent({ keepAlive: true });
  const waiting = new Set();
  let longest = 0;
  const timer = setInterval(() => {
    const from = performance.now();
    waiting.add(from);
    const over = () => {
      waiting.delete(from);
      longest = Math.max(longest, performance.now() - from);
    };
    get(url, { agent, headers }, (response) => response.resume().on("end", over)).on("error", over);
  }, EVERY_MS);
  const lines = createInterface(process.stdin);
  lines.on("line", async () => {
    for (const open = [...waiting]; open.some((from) => waiting.has(from));) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    console.log(longest);
    longest = 0;
  });
  lines.on("close", () => {
    clearInterval(timer);
    process.exit();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) knock(process.argv[2], JSON.parse(process.argv[3]));
