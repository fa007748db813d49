// Runs several readers of an event stream in a separate process. Reports when all are connected, and what each received.
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Count } from "./count.mjs";

const QUIET_MS = 1_500;
const LOOK_MS = 20;

process.once("message", async ({ url, headers, readers, stalled, ...counted }) => {
  const counts = Array.from({ length: readers }, () => new Count(counted));
  const reading = counts.map((count) =>
    connect(url, headers, (response) => response.on("data", (chunk) => count.take(chunk))),
  );
  const stalling = Array.from({ length: stalled }, () => connect(url, headers, (response) => response.pause()));
  await Promise.all([...reading, ...stalling]);
  process.send("connected");
  process.once("message", async () => {
    await quiet(counts);
    process.send(counts.map((count) => count.figures()));
    process.once("message", () => process.exit());
  });
});

function connect(url, headers, use) {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      use(response);
      resolve();
    });
    request.on("error", reject);
  });
}

/** Waits until each reader has everything, or until nothing more arrives for a while: the rest is lost. */
async function quiet(counts) {
  const isWhole = () => counts.every((count) => count.isWhole);
  for (let before = 0; !isWhole();) {
    for (let waited = 0; waited < QUIET_MS && !isWhole(); waited += LOOK_MS) await sleep(LOOK_MS);
    const received = counts.reduce((sum, count) => sum + count.received, 0);
    if (received > 0 && received === before) return;
    before = received;
  }
}
