// Measures the path from a program's stdout to a durable event, compared with a bare pipe, and the start and end of programs.
// Run it with `node bench/backends.mjs [--quick]`. The candidates take turns, so that load on the machine affects all of them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, printAlone, quantile } from "./table.mjs";

const MEASURE = fileURLToPath(new URL("./backends/measure.mjs", import.meta.url));
const AGENTS = 20;

export async function run({ quick = false } = {}) {
  const rounds = quick ? 2 : 7;
  const count = quick ? 50_000 : 200_000;
  const rate = (way) => () => measured({ measure: "rate", way, count });
  const [floor, claude, lines] = inTurns(rounds, [rate("raw"), rate("claude"), rate("command")]);
  const paced = (way) => () => quantile(measured({ measure: "latency", way, count: quick ? 100 : 400 }), 0.5);
  const [bare, late] = inTurns(quick ? 1 : 5, [paced("raw"), paced("claude")]);
  const start = (way) => () => measured({ measure: "start", way });
  const [own, ours] = inTurns(quick ? 2 : 9, [start("raw"), start("claude")]);
  const [closed] = inTurns(quick ? 1 : 5, [() => measured({ measure: "close", count: AGENTS })]);
  return [
    { name: "floor: a pipe and JSON.parse", value: floor, unit: "records/s" },
    { name: "claude-code: deltas into the durable log", ...share(claude, floor) },
    { name: "command: an event of its own for each record", ...share(lines, floor) },
    { name: "floor: a record through a pipe, p50", value: bare, unit: "ms" },
    { name: "what the way into the log and out of it adds, p50", ...atMost(late - bare, 3, "ms") },
    { name: "floor: from nothing to the first record", value: own, unit: "ms" },
    { name: "what Rookery adds to it", ...atMost(ours - own, 50, "ms") },
    { name: `${AGENTS} agents that ignore TERM are gone after`, ...atMost(closed / 1000, 6, "s") },
  ];
}

/** Runs in a separate process, so that measurements do not affect each other. */
function measured(options) {
  const { stdout, status } = spawnSync(process.execPath, [MEASURE, JSON.stringify(options)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
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

function share(value, floor) {
  const ratio = value / floor;
  const target = "≥ 60k/s and ≥ 0.5× floor";
  return { value, unit: "records/s", ratio, target, ok: value >= 60_000 && ratio >= 0.5 };
}

function atMost(value, most, unit) {
  return { value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

await printAlone(import.meta.url, "Programs", run);
