import { Readable, Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { readRecords, streamTransport, type RecordOptions } from "./index.ts";
import { chunks, fuzz, type Random } from "./test-fuzz.ts";
import { heldMemory } from "./test-memory.ts";

interface Read extends RecordOptions {
  readonly emptyLines?: boolean;
  readonly maxMessageBytes?: number;
}

/** Reads these bytes and returns what the sink receives, each as `record`, `text` or `dropped`. */
async function read(pieces: Iterable<string | Buffer>, options: Read = {}): Promise<unknown[]> {
  const told: unknown[] = [];
  const bytes = Array.from(pieces, (piece) => (typeof piece === "string" ? Buffer.from(piece) : piece));
  await new Promise<void>((resolve) => {
    const sink = readRecords(
      {
        record: (record) => told.push(record),
        text: (text) => told.push(text),
        dropped: (what, how) => told.push([how, what]),
        blank: () => told.push(""),
        ended: () => resolve(),
      },
      options,
    );
    streamTransport(Readable.from(bytes), new Writable(), options).start(sink);
  });
  return told;
}

const A = '{"a":1}';
const B = '{"b":"x}{\\"y"}';
const [a, b] = [{ a: 1 }, { b: 'x}{"y' }];
const broken = (text: string) => ["broken", `a line that starts like JSON but is not valid: ${text}`];

describe("readRecords finds a record", () => {
  it.each([
    ["alone on its line", `${A}\n${B}\n`, [a, b]],
    ["before CRLF", `${A}\r\n${B}\r\n`, [a, b]],
    ["without a newline at the end", `${A}\n${B}`, [a, b]],
    ["whose first key is not type", '{"x":1,"type":"t"}\n', [{ x: 1, type: "t" }]],
    ["between spaces", `  ${A}  \n`, [a]],
    ["with spaces in it", '{ "a" : 1 }\n', [a]],
    ["after a byte order mark", `\uFEFF${A}\n`, [a]],
    ["between NUL characters", `\0\0${A}\0\n`, [a]],
    ["between color codes", `\u001b[31m${A}\u001b[0m\n`, [a]],
    ["after a cleared line", `\u001b[2K\r${A}\n`, [a]],
    ["after a title that ends with a bell", `\u001b]0;{"title\u0007${A}\n`, [a]],
    ["after a title that ends with ST", `\u001b]0;a title\u001b\\${A}\n`, [a]],
    ["after progress output that overwrites itself", `10%\r50%\r${A}\n`, ["50%", a]],
    ["after an unfinished line", `Downloading… ${A}\n`, ["Downloading… ", a]],
    ["before text", `${A} done\n`, [a, " done"]],
    ["next to another", `${A}${B}\n`, [a, b]],
    ["next to another with text between", `${A} and ${B}\n`, [a, " and ", b]],
    ["after braces", `{{{ }}} ${A}\n`, ["{{{ }}} ", a]],
    ["that contains Unicode line separators", '{"a":"\u2028\u2029\u0085"}\n', [{ a: "\u2028\u2029\u0085" }]],
    ["that is empty", "{}\n", [{}]],
    ["between empty lines", `\n\n${A}\n\r\n \n`, [a]],
    ["after half a record", `{"half":"${A}\n`, ['{"half":"', broken('{"half":"'), a]],
  ])("%s", async (_, text, told) => {
    expect(await read([text])).toEqual(told);
  });
});

describe("readRecords delivers as text", () => {
  it.each([
    ["plain text", "hello\n", ["hello"]],
    ["colored text", "\u001b[1mhello\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\n", ["hello link"]],
    ["the last version of a line that overwrites itself", "one\rtwo\r\n", ["two"]],
    ["an array", "[1,2]\n", ["[1,2]"]],
    ["a function", "function f() {}\n", ["function f() {}"]],
    ["a number", "1\n", ["1"]],
    ["text without its direction overrides", "a\u202eb\n", ["ab"]],
    ["a replacement character of the program", "a\uFFFD\n", ["a\uFFFD"]],
  ])("%s", async (_, text, told) => {
    expect(await read([text])).toEqual(told);
  });

  it("a record that a newline broke, and reports it", async () => {
    expect(await read([`{"a":"one\ntwo"}\n${A}\n`])).toEqual(['{"a":"one', broken('{"a":"one'), 'two"}', a]);
  });

  it("broken records, of which it reports at most ten", async () => {
    const told = await read(['{"a":\n'.repeat(100)]);
    const said = told.filter((one): one is [string, string] => Array.isArray(one));
    expect(said).toHaveLength(10);
    expect(said.at(-1)?.[1]).toContain("further ones are not reported");
    expect(told).toHaveLength(110);
  });

  it("text beside JSON if a record must be alone on its line", async () => {
    const text = `Say ${A} to it\n\u001b[2m${A}\u001b[0m\n{"a":\n\n  indented\n`;
    const told = await read([text], { wholeLines: true, emptyLines: true });
    expect(told).toEqual([`Say ${A} to it`, a, '{"a":', "", "  indented"]);
  });
});

it("reports invalid UTF-8 once and continues", async () => {
  const told = await read([Buffer.of(0xff, 0x41, 0xc3, 10), Buffer.from(A), Buffer.of(10, 0xf0, 0x9f, 10)]);
  expect(told).toEqual([
    ["garbled", "bytes that are not valid UTF-8; each is shown as \uFFFD"],
    "\uFFFDA\uFFFD",
    a,
    "\uFFFD",
  ]);
});

it("skips a line of 50 MB in little memory, reports it, and continues", async () => {
  const piece = Buffer.from(`{"long":"${"x".repeat(1024 * 1024)}`);
  let most = 0;
  const before = heldMemory();
  function* pieces() {
    for (let n = 0; n < 50; n += 1) {
      if (n % 10 === 9) most = Math.max(most, heldMemory() - before);
      yield Buffer.from(piece);
    }
    yield `"}\n${A}\n`;
  }
  const told: unknown[] = [];
  await new Promise<void>((resolve) => {
    const sink = readRecords({
      record: (record) => told.push(record),
      text: (text) => told.push(text),
      dropped: (what, how) => told.push([how, what.slice(0, 48)]),
      ended: () => resolve(),
    });
    streamTransport(Readable.from(pieces(), { highWaterMark: 1 }), new Writable(), {
      maxMessageBytes: 4_000_000,
    }).start(sink);
  });
  expect(told).toEqual([
    ["long", `a line of ${50 * piece.length + 2} bytes, which was dropped; it starts with: {"long":"xxx`.slice(0, 48)],
    a,
  ]);
  expect(most).toBeLessThan(20_000_000);
});

it("cuts a long text line and reports it", async () => {
  const told = await read([`${"w".repeat(100_000)}\n`]);
  expect(told).toEqual([
    "w".repeat(65_536),
    ["long", `a line of 100000 characters, the rest of which was dropped; it starts with: ${"w".repeat(200)}`],
  ]);
});

it.each([
  ["braces", "{"],
  ["record starts", '{"'],
  ["value starts", '{"a":'],
  ["unclosed records", '{"a":{"b":1},'],
  ["escapes", "\u001b]"],
  ["unterminated titles", "\u001b]0;"],
  ["carriage returns", "x\r"],
])("handles a line of %s in bounded time", async (_, unit) => {
  const line = unit.repeat(4_000_000 / unit.length);
  const before = performance.now();
  const told = await read([`${line}\n${A}\n`]);
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(told.at(-1)).toEqual(a);
});

it("finds every record in order, for any text between them and any chunking", () => {
  return fuzz(300, async (random) => {
    const records = Array.from({ length: random.below(20) }, (_, n) => ({ n, value: random.value() }));
    const text = records.map((record) => `${noise(random)}${JSON.stringify(record)}${noise(random)}`).join("");
    const told = await read(chunks(Buffer.from(text), random));
    expect(told.filter((one) => typeof one === "object" && !Array.isArray(one) && !isDeepStrictEqual(one, {}))).toEqual(
      records,
    );
  });
});

function noise(random: Random): string {
  const some = () =>
    random.pick(
      "\n",
      "\r\n",
      "\r",
      "\u001b[2K",
      "\u001b[38;5;12m",
      "\u001b]0;{title}\u0007",
      "\u001b]0;title\u001b\\",
      "\0",
      "\uFEFF",
      "\u2028",
      "50%",
      "{",
      "}",
      "{{",
      " ",
      "words — and 😀",
    );
  return Array.from({ length: random.below(5) }, some).join("");
}

it.each([
  ["alone on its line", ""],
  ["after other text", "text "],
])("reports a record %s that is nested too deeply for its handler, and reads on", (_, before) => {
  const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  const told: string[] = [];
  const sink = readRecords({
    record: (record) => told.push(JSON.stringify(record)),
    text: () => undefined,
    dropped: (what) => told.push(what),
    ended: () => undefined,
  });
  sink.line(before + deep);
  sink.line(A);
  expect(told).toEqual([expect.stringMatching(/^a line that is nested too deeply: \{"a":\[\[\[/), A]);
});
