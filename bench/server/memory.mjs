// Loaded into the server before it starts: on SIGUSR2 it collects what nobody needs and writes down what is left.
import { renameSync, writeFileSync } from "node:fs";

const file = process.env.BENCH_MEMORY;

process.on("SIGUSR2", () => {
  for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  writeFileSync(`${file}.part`, JSON.stringify({ held: heapUsed + external, heap: heapUsed, rss }));
  renameSync(`${file}.part`, file);
});
