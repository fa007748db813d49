// Preloaded into the server: on SIGUSR2, collects garbage and writes the memory usage. With
// BENCH_SNAPSHOTS (a folder) and BENCH_SNAPSHOT_EVERY (a count), every nth signal also writes a heap snapshot.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";

const file = process.env.BENCH_MEMORY;
const snapshots = process.env.BENCH_SNAPSHOTS;
const snapshotEvery = Number(process.env.BENCH_SNAPSHOT_EVERY);
let signals = 0;

process.on("SIGUSR2", () => {
  for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  writeFileSync(
    `${file}.part`,
    JSON.stringify({ held: heapUsed + external, heap: heapUsed, rss, reads: globalThis.benchReads }),
  );
  renameSync(`${file}.part`, file);
  signals += 1;
  if (snapshots && signals % snapshotEvery === 0) writeHeapSnapshot(join(snapshots, `${signals}.heapsnapshot`));
});
