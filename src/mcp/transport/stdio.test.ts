import { expect, it } from "vitest";
import { MessageLines } from "./lines.ts";
import { StderrRelay } from "./stderr.ts";

it("splits lines independently of chunk boundaries", () => {
  const bytes = Buffer.from('{"a":"é"}\r\n\n  \n{"b":2}\nunfinished');
  for (let size = 1; size <= bytes.length; size += 1) {
    const seen: string[] = [];
    const lines = new MessageLines({ line: (text) => seen.push(text), tooLong: () => seen.push("too long") }, 1_000);
    for (let at = 0; at < bytes.length; at += size) lines.push(bytes.subarray(at, at + size));
    expect(seen).toEqual(['{"a":"é"}', '{"b":2}']);
  }
});

it("reports a line above the limit once and reads nothing after it", () => {
  const seen: string[] = [];
  const lines = new MessageLines({ line: (text) => seen.push(text), tooLong: () => seen.push("too long") }, 10);
  for (const chunk of ["one\n", "0123456789", "x", "y\ntwo\n"]) lines.push(Buffer.from(chunk));
  expect(seen).toEqual(["one", "too long"]);
});

it("passes stderr on in whole lines at a limited rate and keeps its end", () => {
  let now = 0;
  const told: string[] = [];
  const stderr = new StderrRelay(
    (text) => told.push(text),
    () => now,
  );
  for (const chunk of ["half a ", "line\nand", " another\n"]) stderr.push(chunk);
  expect(told).toEqual(["half a line", "and another"]);
  for (let times = 0; times < 1_000; times += 1) stderr.push(`${"x".repeat(999)}\n`);
  expect(told.join("").length).toBeLessThanOrEqual(256 * 1024);
  now = 1_000;
  stderr.push("after a second\n");
  expect(told.at(-1)).toMatch(/^\[\d+ characters omitted\]\nafter a second$/);
  stderr.push("last words");
  stderr.end();
  expect(told.at(-1)).toBe("last words");
  expect(stderr.tail).toMatch(/after a second\nlast words$/);
  expect(stderr.tail.length).toBeLessThanOrEqual(2_000);
});
