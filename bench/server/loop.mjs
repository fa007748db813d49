// Loaded into the server before it starts. On SIGUSR2 it writes for how long the event loop was held at most since the last
// time, by the clock and in CPU time of the main thread. On a busy machine only the CPU time is the server's own doing.
import { renameSync, writeFileSync } from "node:fs";
import { mainThreadCpu } from "./main-thread.mjs";

const file = process.env.BENCH_MEMORY;
const EVERY_MS = 2;
const cpuTime = mainThreadCpu() ?? processCpu;

let [longest, worked] = [0, 0];
let last = look();

setInterval(() => {
  const now = look();
  const held = now.clock - last.clock - EVERY_MS;
  longest = Math.max(longest, held);
  worked = Math.max(worked, Math.min(held, now.cpu - last.cpu));
  last = now;
}, EVERY_MS).unref();

function look() {
  return { clock: performance.now(), cpu: cpuTime() };
}

/** Other threads, such as those of the garbage collector, count as well. */
function processCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.part`, JSON.stringify({ longest, worked }));
  renameSync(`${file}.part`, file);
  [longest, worked] = [0, 0];
});
