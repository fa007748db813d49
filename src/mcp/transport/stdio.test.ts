import { expect, it } from "vitest";
import { Lines } from "./lines.ts";
import { Stderr } from "./stderr.ts";

it("lines are the same however they are cut into chunks", () => {
  const bytes = Buffer.from('{"a":"é"}\r\n\n  \n{"b":2}\nunfinished');
  for (let size = 1; size <= bytes.length; size += 1) {
    const seen: string[] = [];
    const lines = new Lines({ line: (text) => seen.push(text), tooLong: () => seen.push("too long") }, 1_000);
    for (let at = 0; at < bytes.length; at += size) lines.push(bytes.subarray(at, at + size));
    expect(seen).toEqual(['{"a":"é"}', '{"b":2}']);
  }
});

it("a line past the limit is told of once, and nothing is read after it", () => {
  const seen: string[] = [];
  const lines = new Lines({ line: (text) => seen.push(text), tooLong: () => seen.push("too long") }, 10);
  for (const chunk of ["one\n", "0123456789", "x", "y\ntwo\n"]) lines.push(Buffer.from(chunk));
  expect(seen).toEqual(["one", "too long"]);
});

it("what a server prints is told in whole lines, at a bounded rate, and its end is kept", () => {
  let now = 0;
  const told: string[] = [];
  const stderr = new Stderr(
    (text) => told.push(text),
    () => now,
  );
  for (const chunk of ["half a ", "line\nand", " another\n"]) stderr.push(chunk);
  expect(told).toEqual(["half a line", "and another"]);
  for (let times = 0; times < 1_000; times += 1) stderr.push(`${"x".repeat(999)}\n`);
  expect(told.join("").length).toBeLessThanOrEqual(256 * 1024);
  now = 1_000;
  stderr.push("after a second\n");
  expect(told.at(-1)).toMatch(/^\[\d+ characters were left out\]\nafter a second$/);
  stderr.push("last words");
  stderr.end();
  expect(told.at(-1)).toBe("last words");
  expect(stderr.tail).toMatch(/after a second\nlast words$/);
  expect(stderr.tail.length).toBeLessThanOrEqual(2_000);
});
