// Rows of results with a target.
import { median } from "../table.mjs";

export function atMost(name, value, most, unit) {
  return { name, value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

/**
 * Scrolls of several rounds, each with the times of its frames and its longest task. The longest frame is that of the
 * best round: on a shared machine, others take whole frames.
 */
export function frameRows(name, rounds) {
  const longest = Math.min(...rounds.map(({ times }) => Math.max(...times)));
  const all = rounds.flatMap(({ times }) => times);
  const late = all.filter((time) => time > 50).length;
  const task = median(rounds.map(({ longestCpuMs }) => longestCpuMs));
  return [
    atMost(`${name}: longest frame, best of ${rounds.length}`, longest, 50, "ms"),
    { name: "the same, frames over 50 ms in all rounds", value: (100 * late) / all.length, unit: "%" },
    atMost("the same, median frame", median(all), 17, "ms"),
    { name: "the same, longest task of the page's main thread, CPU time", value: task, unit: "ms" },
  ];
}
