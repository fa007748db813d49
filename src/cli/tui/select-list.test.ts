import { expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import { handleSelectKey, openSelect, renderSelect, type SelectState } from "./select-list.ts";

const START = openSelect("Agents", [
  { value: "a", label: "claude" },
  { value: "b", label: "codex", detail: "not ready" },
  { value: "c", label: "gemini" },
]);

function press(...keys: string[]) {
  return keys.reduce<ReturnType<typeof handleSelectKey>>(
    (state, key) => ("items" in state ? handleSelectKey(state, key) : state),
    START,
  );
}

it("chooses with the arrow keys and Enter", () => {
  expect(press("\x1b[B", "\x1b[B", "\x1b[B", "\x1b[A", "\r")).toEqual({ chosen: START.items[1] });
});

it("filters by what is typed, and does not choose if nothing matches", () => {
  expect(press("g", "e", "m", "\r")).toEqual({ chosen: START.items[2] });
  expect(press("z", "\r")).toMatchObject({ filter: "z" });
  expect(press("z", "\x7f", "\r")).toEqual({ chosen: START.items[0] });
});

it("cancels with Esc", () => {
  expect(press("\x1b")).toEqual({ cancelled: true });
});

it("shows a window around the choice that fits the rows and the width", () => {
  const many: SelectState = {
    ...openSelect(
      "Many",
      Array.from({ length: 30 }, (_, at) => ({ value: `${at}`, label: `item ${at}` })),
    ),
    selected: 20,
  };
  const lines = renderSelect(many, { width: 24, rows: 7, paint: plainPaint });
  expect(lines).toHaveLength(7);
  expect(lines).toContain("❯ item 20");
  expect(lines.every((line) => line.length <= 24)).toBe(true);
});

it("shows ten items of a long list on a high terminal, with the position of the selected one and the total", () => {
  const many = openSelect(
    "Many",
    Array.from({ length: 30 }, (_, at) => ({ value: `${at}`, label: `item ${at}` })),
  );
  const lines = renderSelect(many, { width: 80, rows: 50, paint: plainPaint });
  expect(lines).toHaveLength(12);
  expect(lines[0]).toBe("Many 1 of 30");
});

const COLUMNS = openSelect("Conversations", [
  {
    value: "a",
    label: "Explain the cache",
    facts: ["just now", "1 turn", "k3v9x1aa"],
    detail: "last: and the eviction",
  },
  { value: "b", label: "A title that is much longer than the others and goes on", facts: ["2h ago", "12 turns"] },
  { value: "c", label: "hello", facts: ["3d ago", "failed", "p0p1p2p3"], isDim: true, isCurrent: true },
]);

it("aligns the columns, marks and selects the current item, and shows where text is cut", () => {
  const lines = renderSelect(COLUMNS, { width: 80, rows: 20, paint: plainPaint });
  expect(lines).toEqual([
    "Conversations",
    "    Explain the cache        just now  1 turn    k3v9x1aa  last: and the evicti…",
    "    A title that is much l…  2h ago    12 turns",
    "❯ ● hello                    3d ago    failed    p0p1p2p3",
    "↑↓ choose · Enter accepts · type to filter · Esc cancels",
  ]);
});

it.each([30, 60, 80, 120])("fits %d columns, and leaves out the last facts first", (width) => {
  const lines = renderSelect(COLUMNS, { width, rows: 20, paint: plainPaint });
  expect(lines.filter((line) => line.length > width)).toEqual([]);
  expect(lines[1]).toContain(width < 60 ? "Explain the" : "just now");
  expect(lines.join("\n").includes("k3v9x1aa")).toBe(width >= 80);
});

it("offers the typed text itself as the last choice", () => {
  const state = { ...START, textLabel: "use" };
  const typed = ["c", "-", "9"].reduce<ReturnType<typeof handleSelectKey>>(
    (next, key) => ("items" in next ? handleSelectKey(next, key) : next),
    state,
  );
  if (!("items" in typed)) throw new Error("nothing was chosen yet");
  expect(renderSelect(typed, { width: 40, rows: 9, paint: plainPaint })).toContain("❯ use c-9");
  expect(handleSelectKey(typed, "\r")).toMatchObject({ chosen: { value: "c-9" } });
});
