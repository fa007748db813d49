import { describe, expect, it } from "vitest";
import { indexOfText, splitText } from "./substring.ts";
import { trimBothEndsOf, trimEndOf } from "./trim.ts";

/** Repetitive on purpose: borders of all lengths occur. */
function randomText(seed: number, length: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % 17 === 0 ? "b" : "a";
  }).join("");
}

describe("substring", () => {
  it("returns the same indexes and pieces as the native functions", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const text = randomText(seed, 2_000);
      const wanted = seed % 3 === 0 ? randomText(seed + 1, 70) : text.slice(seed, seed + 70 + (seed % 200));
      expect(indexOfText(text, wanted)).toBe(text.indexOf(wanted));
      expect(indexOfText(text, wanted, 500)).toBe(text.indexOf(wanted, 500));
      expect(splitText(text, wanted)).toEqual(text.split(wanted));
      expect(splitText(text + wanted + wanted, wanted)).toEqual((text + wanted + wanted).split(wanted));
    }
  });

  it("finds short texts", () => {
    expect(indexOfText("abcabc", "ca")).toBe(2);
    expect(splitText("a,b,", ",")).toEqual(["a", "b", ""]);
  });

  it("trims the given characters at one end or both", () => {
    expect(trimEndOf("//a//", "/")).toBe("//a");
    expect(trimBothEndsOf("-_a-_", "_-")).toBe("a");
    expect(trimBothEndsOf("----", "-")).toBe("");
  });
});
