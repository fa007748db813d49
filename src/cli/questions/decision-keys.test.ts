import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ChoiceTimer } from "./choice-timer.ts";
import { takeDecisionKey } from "./decision-keys.ts";

let choice: ChoiceTimer;
let happened: unknown[];
let isAlwaysAsked: boolean;
let prefix: string | undefined;
beforeEach(() => {
  prefix = undefined;
  vi.useFakeTimers();
  choice = new ChoiceTimer();
  happened = [];
  isAlwaysAsked = false;
});
afterEach(() => vi.useRealTimers());

const press = (data: string): boolean =>
  takeDecisionKey(choice, data, {
    prefix,
    isAlwaysAsked,
    askAlways: () => {
      isAlwaysAsked = true;
      happened.push("asked");
    },
    leaveAlways: () => {
      isAlwaysAsked = false;
      happened.push("left");
    },
    act: (key) => happened.push(key),
    startReason: (text) => happened.push(text),
  });

const ALWAYS = { answer: { decision: "allow", scope: "session" } };

describe("a key at a permission question", () => {
  it("counts only if no other one follows at once", () => {
    press("y");
    expect(happened).toEqual([]);
    vi.runAllTimers();
    expect(happened).toEqual([{ answer: { decision: "allow", scope: "once" } }]);
  });

  it.each([
    ["wait", "w"],
    ["yes", "ye"],
    ["always", "al"],
    ["no", "no"],
  ])("starts a reason with the first letters of %s", (word, text) => {
    for (const letter of word) if (happened.length === 0) press(letter);
    vi.runAllTimers();
    expect(happened).toEqual([text]);
  });

  it("needs a second a to always allow", () => {
    press("a");
    vi.runAllTimers();
    expect(happened).toEqual(["asked"]);
    press("a");
    vi.runAllTimers();
    expect(happened).toEqual(["asked", ALWAYS]);
  });

  it.each<[string, string[], unknown[]]>([
    ["a and a", ["a", "a"], ["asked", { answer: { decision: "allow", scope: "session", prefix: "npm test" } }]],
    ["a and A", ["a", "A"], ["asked", ALWAYS]],
    ["a after A", ["A", "a"], ["asked"]],
    ["A and A, as with Caps Lock", ["A", "A"], []],
  ])("allows the first words of a command, the whole tool, or nothing with %s", (_, keys, expected) => {
    prefix = "npm test";
    for (const key of keys) {
      press(key);
      vi.runAllTimers();
    }
    expect(happened).toEqual(expected);
  });

  it("allows the first words with a twice at once", () => {
    prefix = "npm test";
    press("a");
    press("a");
    vi.runAllTimers();
    expect(happened.at(-1)).toEqual({ answer: { decision: "allow", scope: "session", prefix: "npm test" } });
  });

  it("goes back from the second a with Esc, even before the first one counts", () => {
    press("a");
    expect(press("\u001b")).toBe(true);
    vi.runAllTimers();
    expect(happened).toEqual(["left"]);
    press("a");
    vi.runAllTimers();
    press("a");
    expect(press("\u001b")).toBe(true);
    vi.runAllTimers();
    expect(happened).toEqual(["left", "asked", "left"]);
    expect(press("\u001b")).toBe(false);
  });

  it("counts at once with Enter, and not at all after Esc", () => {
    press("n");
    expect(press("\u001b")).toBe(false);
    vi.runAllTimers();
    expect(happened).toEqual([]);
    press("n");
    expect(press("\r")).toBe(true);
    expect(happened).toEqual([{ answer: { decision: "deny" } }]);
  });
});
