// Preloaded into the server. On SIGUSR2, writes the longest event loop delay since the last signal, in wall-clock time
// and in CPU time of the main thread, and the CPU time that a health request waited for. On a busy machine, only the CPU
// time is caused by the server.
import { subscribe } from "node:diagnostics_channel";
import { renameSync, writeFileSync } from "node:fs";
import { mainThreadCpu } from "./main-thread.mjs";

const file = process.env.BENCH_MEMORY;
const EVERY_MS = 2;
const cpuTime = mainThreadCpu() ?? processCpu;

let [longest, worked, waited] = [0, 0, 0];
let last = look();
let beforeLast = last;

setInterval(() => {
  const now = look();
  const held = now.clock - last.clock - EVERY_MS;
  longest = Math.max(longest, held);
  worked = Math.max(worked, Math.min(held, now.cpu - last.cpu));
  [beforeLast, last] = [last, now];
}, EVERY_MS).unref();

/** The earliest time at which the pending requests may have arrived: the start of the previous event loop turn. */
const since = new WeakMap();
subscribe("http.server.request.start", ({ request }) => {
  if (request.url === "/v1/health") since.set(request, beforeLast.cpu);
});
subscribe("http.server.response.finish", ({ request }) => {
  if (since.has(request)) waited = Math.max(waited, cpuTime() - since.get(request));
});

function look() {
  return { clock: performance.now(), cpu: cpuTime() };
}

/** Includes other threads, such as those of the garbage collector. */
function processCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.part`, JSON.stringify({ longest, worked, waited }));
  renameSync(`${file}.part`, file);
  [longest, worked, waited] = [0, 0, 0];
});
