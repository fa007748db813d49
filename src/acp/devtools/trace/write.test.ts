import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../testing/repository.ts";
import { Connection } from "../../connection/connection.ts";
import { transportPair } from "../../../programs/transport.ts";
import { traceTo } from "./index.ts";

const clock = { now: () => Date.parse("2025-01-01T00:00:00Z") };
const AT = "2025-01-01T00:00:00.000Z";
const entries = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

it("writes both directions of a connection to a file that only its owner can read", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "trace");
  const [left, right] = transportPair();
  const trace = traceTo(file, { clock });
  await using _peer = new Connection({ transport: right, handlers: { request: () => ({ ok: true }) } });
  await using connection = new Connection({ transport: left, trace });
  await connection.request("ask", { a: 1 });
  right.write("noise\n");
  await connection.request("again");
  await trace.close();
  expect(entries(file)).toEqual([
    { at: AT, direction: "out", message: { jsonrpc: "2.0", id: 1, method: "ask", params: { a: 1 } } },
    { at: AT, direction: "in", message: { jsonrpc: "2.0", id: 1, result: { ok: true } } },
    { at: AT, direction: "out", message: { jsonrpc: "2.0", id: 2, method: "again" } },
    { at: AT, direction: "in", line: "noise" },
    { at: AT, direction: "in", message: { jsonrpc: "2.0", id: 2, result: { ok: true } } },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("keeps the text of a message unchanged", async () => {
  const stream = new PassThrough();
  const trace = traceTo(stream, { clock });
  trace("in", `{ "id": 12345678901234567890, "x":1.0 }`);
  await trace.close();
  stream.end();
  expect(await text(stream)).toBe(
    `{"at":"${AT}","direction":"in","message":{ "id": 12345678901234567890, "x":1.0 }}\n`,
  );
});

it("appends to an existing file and removes access for others", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "trace");
  for (const line of ["1", "2"]) {
    await using trace = traceTo(file, { clock });
    trace("out", line);
    chmodSync(file, 0o644);
  }
  await using _trace = traceTo(file);
  expect(entries(file)).toMatchObject([{ message: 1 }, { message: 2 }]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("leaves a given stream open and writes nothing after close", async () => {
  const stream = new PassThrough();
  const trace = traceTo(stream, { clock });
  await trace.close();
  trace("in", "{}");
  expect(stream.writableEnded).toBe(false);
  stream.end("mine");
  expect(await text(stream)).toBe("mine");
});

it("records how many messages were skipped while the disk was slow", async () => {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  let slow = true;
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      if (chunk !== "") written.push(chunk);
      if (slow) waiting.push(done);
      else done();
    },
  });
  const trace = traceTo(stream, { clock, maxWaitingBytes: 100 });
  for (let line = 1; line <= 10; line += 1) trace("in", String(line));
  slow = false;
  for (const done of waiting.splice(0)) done();
  await new Promise((resolve) => setImmediate(resolve));
  trace("in", "11");
  slow = true;
  trace("in", "12");
  trace("in", "13");
  trace("in", "14");
  slow = false;
  for (const done of waiting.splice(0)) done();
  await trace.close();
  const kept = written.map((line) => JSON.parse(line) as { message?: number; dropped?: number });
  const count = kept.reduce((sum, { dropped = 1 }) => sum + dropped, 0);
  expect(count).toBe(14);
  expect(kept.some(({ dropped }) => dropped !== undefined)).toBe(true);
  const place = kept.findIndex(({ dropped }) => dropped !== undefined);
  expect(kept[place - 1]?.message).toBe(10 - (kept[place]?.dropped ?? 0));
  expect(kept[place + 1]?.message).toBe(11);
});

it("reports a write error from close and never blocks before", async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error("the disk is full")) });
  const trace = traceTo(stream);
  for (let line = 0; line < 10; line += 1) trace("in", "{}");
  await new Promise((resolve) => setImmediate(resolve));
  trace("in", "{}");
  await expect(trace.close()).rejects.toThrow("the trace is incomplete: the disk is full");
});

it("throws if the file cannot be created", async () => {
  await using folder = await temporaryFolder();
  expect(() => traceTo(join(folder.path, "none", "trace"))).toThrow("ENOENT");
});
