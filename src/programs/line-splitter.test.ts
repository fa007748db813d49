import { describe, expect, it } from "vitest";
import { chunks, fuzz } from "./test-fuzz.ts";
import { LineSplitter } from "./line-splitter.ts";
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

describe("LineSplitter", () => {
  it.each([
    ["one line in a chunk", ["a\n"], ["a"]],
    ["several lines in a chunk", ["a\nb\nc\n"], ["a", "b", "c"]],
    ["a line over several chunks", ["a", "b", "c\n"], ["abc"]],
    ["a chunk that ends one line and starts the next", ["a\nb", "c\nd\n"], ["a", "bc", "d"]],
    ["a newline in its own chunk", ["a", "\n", "b", "\n"], ["a", "b"]],
    ["empty lines by skipping them", ["\n\na\n\n", "\n", "b\n"], ["a", "b"]],
    ["CRLF", ["a\r\nb\r\n\r\n"], ["a", "b"]],
    ["CRLF across two chunks", ["a\r", "\nb\r", "\n"], ["a", "b"]],
    ["a line with a carriage return inside", ["a\rb\n"], ["a\rb"]],
    ["a last line without a newline", ["a\nb"], ["a", "b"]],
    ["a last line without a newline, with a carriage return", ["a\nb\r"], ["a", "b"]],
    ["empty chunks", ["", "a", "", "\n", ""], ["a"]],
    ["an empty stream", [], []],
  ])("splits %s", (_what, pieces, lines) => {
    expect(split(pieces)).toEqual(lines);
  });

  it("delivers empty lines if requested", () => {
    const pieces = ["\n\na\n\n", "\r\n", "b", "\n", "\nc"];
    expect(split(pieces, { emptyLines: true })).toEqual(["", "", "a", "", "", "b", "", "c"]);
  });

  it("keeps a line without a newline until the end", () => {
    expect(split(["a\nb"], { end: false })).toEqual(["a"]);
  });

  it("decodes characters that span two chunks", () => {
    const bytes = Buffer.from("é€😀\n😀é\n");
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(["é€😀", "😀é"]);
    }
    expect(split([...bytes].map((byte) => Buffer.from([byte])))).toEqual(["é€😀", "😀é"]);
  });

  it("returns the same lines for any chunking", () => {
    return fuzz(300, (random) => {
      const lines = Array.from({ length: random.below(20) }, () => JSON.stringify(random.value()));
      const newline = random.pick("\n", "\r\n");
      const text = lines.join(newline) + (random.chance(0.5) ? newline : "");
      expect(split(chunks(Buffer.from(text), random))).toEqual(lines);
    });
  });
});

describe("LineSplitter with an oversized line", () => {
  it.each([
    ["in one chunk", ["0123456789abc\n"]],
    ["in several chunks", ["0123", "4567", "89abc", "\n"]],
    ["in chunks below the limit", ["01234567", "89abc\n"]],
    ["at the end, without a newline", ["0123456789abc"]],
  ])("reports its beginning, its end and its size: %s", (_how, pieces) => {
    expect(split(pieces, { maxBytes: 8 })).toEqual(["oversize 0123…9abc of 13"]);
  });

  it("delivers the lines around it", () => {
    const before = ["a\n", "b\n0123456789abc\nc\n", "d\n"];
    expect(split(before, { maxBytes: 8 })).toEqual(["a", "b", "oversize 0123…9abc of 13", "c", "d"]);
    const together = ["a\nb\n0123456789abc\nc\nd\n"];
    expect(split(together, { maxBytes: 8 })).toEqual(["a", "b", "oversize 0123…9abc of 13", "c", "d"]);
  });

  it("accepts a line of exactly the limit", () => {
    expect(split(["12345678\n123456789\n12345678\n"], { maxBytes: 8 })).toEqual([
      "12345678",
      "oversize 1234…6789 of 9",
      "12345678",
    ]);
  });

  it("reports the same for any chunking", () => {
    return fuzz(100, (random) => {
      const lines = Array.from({ length: 8 }, () => "x".repeat(1 + random.below(40)));
      const told = lines.map((line) => (line.length > 20 ? `oversize xxxx…xxxx of ${line.length}` : line));
      expect(split(chunks(Buffer.from(`${lines.join("\n")}\n`), random), { maxBytes: 20 })).toEqual(told);
    });
  });

  it("does not buffer it", () => {
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
