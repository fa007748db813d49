// Measures the throughput of updates over a connection, compared with a bare pipe and the official SDK.
// Run it with `node bench/acp.mjs [--quick]`. The candidates take turns, so that load on the machine affects all of them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, printAlone } from "./table.mjs";

const MB = 1024 * 1024;
const MEASURE = fileURLToPath(new URL("./acp/measure.mjs", import.meta.url));

export async function run({ quick = false } = {}) {
  return [
    ...updates({ count: quick ? 20_000 : 100_000, rounds: quick ? 3 : 11 }),
    ...proxied({ count: quick ? 50_000 : 300_000, rounds: quick ? 3 : 7 }),
    ...chained({ count: quick ? 300 : 2_000, rounds: quick ? 1 : 5 }),
    ...stalled({ count: quick ? 100_000 : 300_000 }),
  ];
}

function updates({ count, rounds }) {
  const rate = (reader) => () => measured({ measure: "rate", reader, count });
  const [floor, ours, theirs] = inTurns(rounds, [rate("raw"), rate("rookery"), rate("official")]);
  return [
    { name: "floor: a pipe and JSON.parse", value: floor, unit: "updates/s" },
    { name: "updates through a connection", ...share(ours, floor, 0.7) },
    { name: "updates through the official SDK 2.4.0", value: theirs, unit: "updates/s", ratio: theirs / floor },
    { name: "a connection beside the official SDK", ...times(ours / theirs, 2.5) },
  ];
}

function proxied({ count, rounds }) {
  const rate = (through) => () => measured({ measure: "rate", reader: "rookery", count, ...through });
  const [floor, one, apart] = inTurns(rounds, [
    rate({}),
    rate({ reader: "proxied" }),
    rate({ through: "nested", proxies: 1 }),
  ]);
  return [
    { name: "floor: updates without a proxy", value: floor, unit: "updates/s" },
    { name: "updates through a proxy, in the client's process", ...share(one, floor, 0.6) },
    { name: "updates through a proxy, in a third process", value: apart, unit: "updates/s", ratio: apart / floor },
  ];
}

function chained({ count, rounds }) {
  const p50 = (through) => () => median(measured({ measure: "roundTrips", reader: "rookery", count, ...through }));
  const [floor, chain, nested, conducted] = inTurns(rounds, [
    p50({}),
    p50({ reader: "chained" }),
    p50({ through: "nested", proxies: 5 }),
    p50({ through: "conducted", proxies: 5 }),
  ]);
  return [
    { name: "floor: a round trip without a proxy, p50", value: floor, unit: "ms" },
    { name: "what a chain of five proxies adds, in the client's process", ...atMost(chain - floor, 1, "ms") },
    { name: "what five processes add, each starting the next", value: nested - floor, unit: "ms" },
    { name: "overhead of five processes and a conductor", value: conducted - floor, unit: "ms" },
  ];
}

function stalled({ count }) {
  const ours = measured({ measure: "stalled", reader: "rookery", count });
  const theirs = measured({ measure: "stalled", reader: "official", count });
  return [
    { name: "read while nobody takes the updates", ...atMost(ours.bytes / MB, 4, "MB") },
    { name: "memory that it costs", ...atMost(ours.memory / MB, 32, "MB") },
    { name: "read by the official SDK meanwhile", value: theirs.bytes / MB, unit: "MB" },
    { name: "memory that it costs", value: theirs.memory / MB, unit: "MB" },
  ];
}

/** Runs in a separate process, so that measurements do not affect each other. */
function measured(options) {
  const args = ["--expose-gc", MEASURE, JSON.stringify(options)];
  const { stdout, status } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * MB,
  });
  if (status !== 0) throw new Error(`${JSON.stringify(options)} exited with code ${status}`);
  return JSON.parse(stdout);
}

/** Returns the median of each. */
function inTurns(rounds, measures) {
  const figures = measures.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, measure] of measures.entries()) figures[index].push(measure());
  }
  return figures.map(median);
}

function share(value, floor, least) {
  const ratio = value / floor;
  return { value, unit: "updates/s", ratio, target: `≥ ${least}× floor`, ok: ratio >= least };
}

function times(value, least) {
  return { value, unit: "×", target: `≥ ${least}×`, ok: value >= least };
}

function atMost(value, most, unit) {
  return { value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

await printAlone(import.meta.url, "ACP", run);
