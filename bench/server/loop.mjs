// Loaded into the server before it starts: on SIGUSR2 it writes down for how long its event loop was held at most since the
// last time, by the clock and in time of a processor: on a busy machine only the latter is the server's own doing.
import { renameSync, writeFileSync } from "node:fs";

const file = process.env.BENCH_MEMORY;
const EVERY_MS = 2;

let [longest, worked] = [0, 0];
let last = look();

setInterval(() => {
  const now = look();
  const held = now.clock - last.clock - EVERY_MS;
  longest = Math.max(longest, held);
  worked = Math.max(worked, Math.min(held, now.processor - last.processor)); // other threads of the process count as well
  last = now;
}, EVERY_MS).unref();

function look() {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), processor: (user + system) / 1_000 };
}

process.on("SIGUSR2", () => {
  writeFileSync(`${file}.part`, JSON.stringify({ longest, worked }));
  renameSync(`${file}.part`, file);
  [longest, worked] = [0, 0];
});
