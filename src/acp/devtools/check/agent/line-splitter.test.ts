import { expect, it } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

function cutUp(chunks: readonly (string | Uint8Array)[], longest?: number): string[] {
  const seen: string[] = [];
  const lines = createLineSplitter({ line: (text) => seen.push(text), noise: (why) => seen.push(`! ${why}`) }, longest);
  for (const chunk of chunks) lines.push(Buffer.from(chunk as string));
  lines.end();
  return seen;
}

it("puts lines together from chunks, also where a character is cut in two", () => {
  const bird = Buffer.from("🐦\n");
  expect(cutUp(["a", "b\nc", "\n", bird.subarray(0, 2), bird.subarray(2)])).toEqual(["ab", "c", "🐦"]);
});

it("calls bytes that are no UTF-8 noise, and goes on with the next line", () => {
  expect(cutUp([new Uint8Array([0xff, 0x0a]), "a\n"])).toEqual(["! a line that is not UTF-8: ÿ", "a"]);
});

it("drops a line that is longer than the limit, says so once, and goes on with the next", () => {
  expect(cutUp(["1234", "5", "6", "\n123\n"], 4)).toEqual(["! a line of more than 4 bytes", "123"]);
});

it("says that the last line has no end", () => {
  expect(cutUp(["a\nb"])).toEqual(["a", "! the output ends in the middle of a line"]);
});
