import { expect, it } from "vitest";
import { emptySummary, type SessionSummary } from "../../domain/summary.ts";
import { displayWidth } from "../display-width.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { formatSessionTable } from "./list.ts";

const NOW = Date.parse("2026-03-10T12:00:00Z");

function session(id: string, more: Partial<SessionSummary>) {
  const at = new Date(NOW - 3_600_000).toISOString();
  const base = { ...emptySummary(`ses_01m7j9${id}`), agent: "claude", createdAt: at, updatedAt: at, turns: 1 };
  return { ...base, title: "Fix the failing test", interrupted: false, ...more };
}

const sessions = [
  session("aaaaaaaa", { status: "waiting" }),
  session("bbbbbbbb", { task: "fix-login" }),
  session("cccccccc", { depth: 1 }),
];

it.each([60, 80, 200])("has a heading on a terminal, marks sessions of tasks, and fits %i columns", (width) => {
  const lines = formatSessionTable(sessions, { now: NOW, width, paint: plainPaint }).trimEnd().split("\n");
  expect(lines[0]).toMatch(/^id +status .*about$/);
  expect(lines[2]).toMatch(/  task fix-login/);
  expect(lines[3]).toMatch(/ ↳ Fix/);
  expect(lines.filter((line) => displayWidth(line) > width)).toEqual([]);
});

it("has no heading in a pipe", () => {
  const lines = formatSessionTable(sessions, { now: NOW, width: undefined, paint: plainPaint }).trimEnd().split("\n");
  expect(lines).toHaveLength(3);
});

it("colors a status that needs a person", () => {
  const table = formatSessionTable(sessions, { now: NOW, width: 80, paint: ansiPaint });
  expect(table).toContain(ansiPaint("yellow", "waiting"));
});
