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
