import { expect, it } from "vitest";
import { createAgentOutputSplitter } from "./line-splitter.ts";

function splitChunks(chunks: readonly (string | Uint8Array)[], longest?: number): string[] {
  const seen: string[] = [];
  const lines = createAgentOutputSplitter(
    { line: (text) => seen.push(text), noise: (why) => seen.push(`! ${why}`) },
    longest,
  );
  for (const chunk of chunks) lines.push(Buffer.from(chunk as string));
  lines.end();
  return seen;
}

it("joins chunks to lines, even if a chunk ends within a character", () => {
  const bird = Buffer.from("🐦\n");
  expect(splitChunks(["a", "b\nc", "\n", bird.subarray(0, 2), bird.subarray(2)])).toEqual(["ab", "c", "🐦"]);
});

it("reports bytes that are not UTF-8 as noise and continues with the next line", () => {
  expect(splitChunks([new Uint8Array([0xff, 0x0a]), "a\n"])).toEqual(["! a line that is not UTF-8: ÿ", "a"]);
});

it("drops a line above the limit, reports it once, and continues with the next line", () => {
  expect(splitChunks(["1234", "5", "6", "\n123\n"], 4)).toEqual(["! a line of more than 4 bytes", "123"]);
});

it("reports an unterminated last line", () => {
  expect(splitChunks(["a\nb"])).toEqual(["a", "! the output ends in the middle of a line"]);
});
