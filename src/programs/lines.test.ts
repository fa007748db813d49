import { describe, expect, it } from "vitest";
import { chunks, fuzz } from "./test-fuzz.ts";
import { LineSplitter } from "./lines.ts";
import { heldMemory } from "./test-memory.ts";

const MANY = 1_000_000;

function split(
  pieces: readonly (string | Buffer)[],
  { maxBytes = MANY, end = true, emptyLines = false } = {},
): string[] {
  const seen: string[] = [];
  const splitter = new LineSplitter(
    {
      line: (text) => seen.push(text),
      oversize: (head, tail, bytes) => seen.push(`oversize ${head.slice(0, 4)}…${tail.slice(-4)} of ${bytes}`),
    },
    { maxBytes, emptyLines },
  );
  for (const piece of pieces) splitter.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  if (end) splitter.end();
  return seen;
}

describe("lines", () => {
  it.each([
    ["one in a chunk", ["a\n"], ["a"]],
    ["many in a chunk", ["a\nb\nc\n"], ["a", "b", "c"]],
    ["one over many chunks", ["a", "b", "c\n"], ["abc"]],
    ["the end of one and the beginning of the next", ["a\nb", "c\nd\n"], ["a", "bc", "d"]],
    ["a newline that comes alone", ["a", "\n", "b", "\n"], ["a", "b"]],
    ["empty lines are left out", ["\n\na\n\n", "\n", "b\n"], ["a", "b"]],
    ["CRLF", ["a\r\nb\r\n\r\n"], ["a", "b"]],
    ["CRLF with the chunk's border in it", ["a\r", "\nb\r", "\n"], ["a", "b"]],
    ["a carriage return within a line stays", ["a\rb\n"], ["a\rb"]],
    ["a last line without a newline", ["a\nb"], ["a", "b"]],
    ["a last line without a newline, with a carriage return", ["a\nb\r"], ["a", "b"]],
    ["empty chunks", ["", "a", "", "\n", ""], ["a"]],
    ["nothing", [], []],
  ])("are found: %s", (_what, pieces, lines) => {
    expect(split(pieces)).toEqual(lines);
  });

  it("with nothing on them are told to whoever asks", () => {
    const pieces = ["\n\na\n\n", "\r\n", "b", "\n", "\nc"];
    expect(split(pieces, { emptyLines: true })).toEqual(["", "", "a", "", "", "b", "", "c"]);
  });

  it("without a newline are kept until the end is told", () => {
    expect(split(["a\nb"], { end: false })).toEqual(["a"]);
  });

  it("have their characters whole although a chunk's border is within one", () => {
    const bytes = Buffer.from("é€😀\n😀é\n");
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(["é€😀", "😀é"]);
    }
    expect(split([...bytes].map((byte) => Buffer.from([byte])))).toEqual(["é€😀", "😀é"]);
  });

  it("are the same whatever the chunks are", () => {
    return fuzz(300, (random) => {
      const lines = Array.from({ length: random.below(20) }, () => JSON.stringify(random.value()));
      const newline = random.pick("\n", "\r\n");
      const text = lines.join(newline) + (random.chance(0.5) ? newline : "");
      expect(split(chunks(Buffer.from(text), random))).toEqual(lines);
    });
  });
});

describe("a line that is too long", () => {
  it.each([
    ["alone", ["0123456789abc\n"]],
    ["in pieces", ["0123", "4567", "89abc", "\n"]],
    ["in pieces that are within the limit", ["01234567", "89abc\n"]],
    ["at the end, without a newline", ["0123456789abc"]],
  ])("is told with its beginning, its end and its size: %s", (_how, pieces) => {
    expect(split(pieces, { maxBytes: 8 })).toEqual(["oversize 0123…9abc of 13"]);
  });

  it("leaves the lines around it as they are", () => {
    const before = ["a\n", "b\n0123456789abc\nc\n", "d\n"];
    expect(split(before, { maxBytes: 8 })).toEqual(["a", "b", "oversize 0123…9abc of 13", "c", "d"]);
    const together = ["a\nb\n0123456789abc\nc\nd\n"];
    expect(split(together, { maxBytes: 8 })).toEqual(["a", "b", "oversize 0123…9abc of 13", "c", "d"]);
  });

  it("is one that has more bytes than the limit, not one that has as many", () => {
    expect(split(["12345678\n123456789\n12345678\n"], { maxBytes: 8 })).toEqual([
      "12345678",
      "oversize 1234…6789 of 9",
      "12345678",
    ]);
  });

  it("is told the same whatever the chunks are", () => {
    return fuzz(100, (random) => {
      const lines = Array.from({ length: 8 }, () => "x".repeat(1 + random.below(40)));
      const told = lines.map((line) => (line.length > 20 ? `oversize xxxx…xxxx of ${line.length}` : line));
      expect(split(chunks(Buffer.from(`${lines.join("\n")}\n`), random), { maxBytes: 20 })).toEqual(told);
    });
  });

  it("is not kept", () => {
    const piece = Buffer.alloc(64 * 1024, "x");
    let told = 0;
    const splitter = new LineSplitter(
      { line: () => undefined, oversize: (_head, _tail, bytes) => (told = bytes) },
      { maxBytes: MANY },
    );
    const before = heldMemory();
    for (let index = 0; index < 1_000; index += 1) splitter.push(Buffer.from(piece)); // a copy each, as from a stream
    expect(heldMemory() - before).toBeLessThan(MANY);
    splitter.push(Buffer.from("\n"));
    expect(told).toBe(1_000 * piece.length);
  });
});
