import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openScene, type Scene } from "./test-scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** Returns pseudo-random numbers. To reproduce a failure, set ROOKERY_SEED. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const WORDS = [
  "a",
  "b",
  "ab",
  "",
  " ",
  "\t",
  "  x",
  "😀",
  "é",
  "e\u0301",
  "日本",
  "$&",
  "$1",
  "\\",
  "'",
  '"',
  "\u2028",
  "\r",
  "\u200d",
  "}",
];

function randomFile(next: (below: number) => number): string {
  const end = ["\n", "\r\n"][next(2)] ?? "\n";
  const mixed = next(4) === 0;
  const lines = Array.from({ length: next(12) }, () =>
    Array.from({ length: next(5) }, () => WORDS[next(WORDS.length)] ?? "").join(""),
  );
  const text = lines.map((line) => line + (mixed && next(2) === 0 ? "\n" : end)).join("");
  const body = next(2) === 0 ? text : text.slice(0, -1);
  return (next(4) === 0 ? "\ufeff" : "") + body;
}

/** Returns a random part of the text that splits no surrogate pair. */
function randomPiece(text: string, next: (below: number) => number): string {
  const characters = Array.from(text);
  const from = next(characters.length);
  return characters.slice(from, from + 1 + next(8)).join("");
}

const ROUNDS = process.env["ROOKERY_SLOW"] === "1" ? 300 : 60;

it("restores the exact bytes when an edit is undone with its diff", { timeout: 120_000 }, async () => {
  const seed = Number(process.env["ROOKERY_SEED"] ?? Date.now() % 1e9);
  const next = numbersFrom(seed);
  const seen = { undone: 0, reversed: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = randomFile(next);
    if (before.length === 0) continue;
    const bytes = Buffer.from(before);
    const where = `seed ${seed}, round ${round}, file ${JSON.stringify(before)}`;
    const path = `file-${round}`;
    writeFileSync(scene.at(path), bytes);
    await scene.run("read", { path });
    const old_text = randomPiece(before, next);
    const new_text = Array.from({ length: next(4) }, () => WORDS[next(WORDS.length)] ?? "").join("\n");
    const changed = await scene.run("edit", { path, old_text, new_text, replace_all: next(2) === 0 });
    if (changed.outcome !== "ok") {
      expect(readFileSync(scene.at(path)).equals(bytes), where).toBe(true);
      continue;
    }
    const after = readFileSync(scene.at(path));
    const [diff] = changed.diffs ?? [];
    expect([diff?.before, diff?.after], where).toEqual([before, after.toString("utf8")]);
    const reversed = await scene.run("edit", { path, old_text: new_text, new_text: old_text });
    if (reversed.outcome === "ok") {
      seen.reversed += 1;
      const [back] = reversed.diffs ?? [];
      expect(back?.before, where).toBe(diff?.after);
    }
    await scene.run("write", { path, content: diff?.before ?? "" });
    expect(readFileSync(scene.at(path)).equals(bytes), where).toBe(true);
    seen.undone += 1;
  }
  expect(seen.undone, `seed ${seed}`).toBeGreaterThan(ROUNDS / 10);
});

it("undoes an edit with the reverse edit", { timeout: 120_000 }, async () => {
  const seed = Number(process.env["ROOKERY_SEED"] ?? Date.now() % 1e9);
  const next = numbersFrom(seed);
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const end = ["\n", "\r\n"][next(2)] ?? "\n";
    const line = () =>
      Array.from({ length: next(4) }, () => WORDS.filter((word) => word !== "\r")[next(19)] ?? "").join("");
    const [head, middle, tail, other] = [line(), line(), line(), line()];
    const last = next(2) === 0 ? end : "";
    const before = `${next(3) === 0 ? "\ufeff" : ""}${head}${end}<<${middle}${end}${tail}>>${last}`;
    const where = `seed ${seed}, round ${round}, file ${JSON.stringify(before)}`;
    const path = `file-${round}`;
    writeFileSync(scene.at(path), before);
    await scene.run("read", { path });
    const [there, back] = [`<<${middle}\n${tail}>>`, `[[${other}\n\n${tail}]]`];
    const changed = await scene.run("edit", { path, old_text: there, new_text: back });
    expect(changed, where).toMatchObject({ outcome: "ok" });
    expect(readFileSync(scene.at(path), "utf8"), where).not.toBe(before);
    expect(await scene.run("edit", { path, old_text: back, new_text: there }), where).toMatchObject({ outcome: "ok" });
    expect(readFileSync(scene.at(path)).equals(Buffer.from(before)), where).toBe(true);
  }
});
