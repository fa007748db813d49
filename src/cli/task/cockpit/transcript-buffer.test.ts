import { expect, it } from "vitest";
import { TranscriptBuffer } from "./transcript-buffer.ts";

const numbered = (count: number, from = 1): string[] => Array.from({ length: count }, (_, at) => `line ${from + at}`);

function open(count: number): TranscriptBuffer {
  const buffer = new TranscriptBuffer();
  buffer.add(numbered(count));
  buffer.window(3, 80);
  return buffer;
}

it("shows the end, and follows it", () => {
  const buffer = open(10);
  expect(buffer.window(3, 80)).toEqual({ lines: ["line 8", "line 9", "line 10"], below: 0 });
  buffer.add(["line 11"]);
  expect(buffer.window(3, 80).lines).toEqual(["line 9", "line 10", "line 11"]);
  expect(buffer.window(0, 80).lines).toEqual([]);
});

it("keeps the same lines visible after the person has scrolled up, and stops at both ends", () => {
  const buffer = open(10);
  buffer.scroll("pageUp");
  buffer.scroll("up");
  expect(buffer.window(3, 80)).toEqual({ lines: ["line 5", "line 6", "line 7"], below: 3 });
  buffer.add(["line 11"]);
  expect(buffer.window(3, 80)).toEqual({ lines: ["line 5", "line 6", "line 7"], below: 4 });
  buffer.scroll("start");
  buffer.scroll("up");
  expect(buffer.window(3, 80)).toEqual({ lines: ["line 1", "line 2", "line 3"], below: 8 });
  buffer.scroll("pageDown");
  expect(buffer.window(3, 80).lines[0]).toBe("line 3");
  buffer.scroll("end");
  expect(buffer.window(3, 80).below).toBe(0);
});

it("wraps lines again for a narrower terminal, and keeps the newest of very many", () => {
  const buffer = open(1);
  buffer.add(["one two three"]);
  expect(buffer.window(3, 8).lines).toEqual(["line 1", "one two", "three"]);
  buffer.add(numbered(30_000));
  buffer.scroll("start");
  expect(buffer.window(3, 80).lines[0]).toBe("line 20001");
});
