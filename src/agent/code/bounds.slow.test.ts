import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { ToolResult } from "../../domain/index.ts";
import { ok, runTestProgram } from "./test-program.ts";

const SHORT = { timeMs: 300 };

describe("a program", () => {
  it.each([
    ["computes forever", "for (;;);", /computed for more than 0\.3 s/],
    [
      "computes forever and catches every error",
      "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
      /computed for more/,
    ],
    ["queues microtasks forever", "for (;;) await 1;", /computed for more/],
    ["computes forever after a call", "await tools.a(); for (;;);", /computed for more/],
    ["computes forever while its value is encoded", "({ toJSON() { for (;;); } })", /computed for more/],
    [
      "computes forever while its error is encoded",
      "throw { get name() { for (;;); }, toJSON() { for (;;); } }",
      /computed for more|ran out/,
    ],
    ["runs a regular expression that never ends", "/(a+)+$/.test('a'.repeat(50) + 'b')", /computed for more/],
    ["is busy in a built-in function", "new Array(4e9).indexOf(1)", /computed for more/],
    ["waits for a promise that never settles", "await new Promise(() => {})", /waits for a promise that never settles/],
    ["waits for a lock", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", /Error: |computed for more/],
    ["throws", "\n\nnull.x", /^TypeError: cannot read property 'x' of null\n.*program\.js:3/],
    [
      "throws in a function",
      "const f = () => { throw new RangeError('mine') };\nf();",
      /^RangeError: mine\n.*program\.js:1:.*\n.*program\.js:2/,
    ],
    ["throws a value that is not an error", "throw { code: 7 }", /^the program threw \{"code":7\}/],
    ["rejects", "await Promise.reject(new Error('later'))", /^Error: later/],
    ["has a syntax error", "const a = 1;\nconst b = ;", /^SyntaxError: .*\n.*program\.js:2:/],
    [
      "has a syntax error after a return",
      "const a = 1;\nif (a) return 1;\nconst b = ;",
      /^SyntaxError: .*\n.*program\.js:3:/,
    ],
    ["has a static import", "import fs from 'node:fs'", /^SyntaxError: /],
    ["has a dynamic import", "await import('node:fs')", /Error: /],
    ["has a value that is not valid JSON", "const a = {}; a.a = a; a", /^TypeError: circular reference/],
  ])("fails with a message if it %s", async (_, code, words) => {
    const played = await runTestProgram(code, { limits: SHORT, tools: { a: () => ok("") } });
    expect([played.outcome, played.text]).toEqual(["failed", expect.stringMatching(words)]);
    expect(played.text.length).toBeLessThan(5_000);
  });

  it.each([
    [
      "fills the memory",
      "const a = []; for (;;) a.push(new Array(1000).fill(a.length));",
      /ran out of memory: the limit is 64 MB/,
    ],
    [
      "fills the memory with text",
      "let s = 'x'; for (;;) s += s + 'y'.repeat(1e6);",
      /ran out of memory|string too long/,
    ],
    ["fills the memory with bytes", "const a = []; for (;;) a.push(new Uint8Array(1e7));", /ran out of memory/],
    ["allocates one huge string", "'x'.repeat(1e9)", /ran out of memory|string/],
    ["recurses forever", "const f = () => f() + 1; f()", /InternalError: stack overflow|exceeded the call stack/],
    [
      "returns deeply nested JSON",
      "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; o",
      /stack overflow|exceeded the call stack|computed/,
    ],
  ])("fails with a message if it %s", async (_, code, words) => {
    const played = await runTestProgram(code);
    expect([played.outcome, played.text]).toEqual(["failed", expect.stringMatching(words)]);
  });

  it("does not count the time in which it waits for a tool", async () => {
    const slow = () => new Promise<ToolResult>((resolve) => setTimeout(() => resolve(ok("slow")), 800));
    expect(await runTestProgram("(await tools.slow()).text", { limits: SHORT, tools: { slow } })).toMatchObject({
      text: '=> "slow"',
    });
  });

  it("continues after an error that it catches", async () => {
    const code = `const f = () => f() + 1; let why; try { f() } catch (e) { why = e.message } why`;
    expect((await runTestProgram(code)).text).toBe('=> "stack overflow"');
  });

  it("ignores an unhandled rejection", async () => {
    expect((await runTestProgram("Promise.reject(new Error('alone')); 1")).text).toBe("=> 1");
  });

  it("truncates its output and its value, and says how much is missing", async () => {
    const { text } = await runTestProgram("for (let i = 0; i < 1e4; i++) console.log('0123456789'); 'x'.repeat(500)", {
      limits: { output: 110 },
    });
    expect(text.length).toBeLessThan(400);
    expect(text).toContain("[109890 more characters of output omitted]");
    expect(text).toMatch(/\[392 more characters omitted\]$/);
  });

  it("fails with a message if its runtime dies", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rookery-code-"));
    try {
      for (const [name, source, words] of [
        ["exit.mjs", "process.exit(3)", /stopped unexpectedly \(exit code 3\)/],
        ["throw.mjs", "throw new Error('defect')", /stopped unexpectedly \(defect\)/],
        ["heap.mjs", "const a = []; for (;;) a.push(new Array(1e6).fill(a))", /ran out of memory/],
      ] as const) {
        const file = join(folder, name);
        await writeFile(file, source);
        expect(await runTestProgram("1", { file })).toMatchObject({
          outcome: "failed",
          text: expect.stringMatching(words),
        });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("a cancelled program ends immediately", () => {
  it.each([
    ["while it computes", "for (;;);", false],
    ["while it waits for a tool", "await tools.hang()", true],
    ["while it is busy in a built-in function", "console.log(1); new Array(4e9).indexOf(1)", false],
  ])("%s", async (_, code, waits) => {
    const stop = new AbortController();
    const begun = deferred();
    const hang = () => (begun.resolve(), new Promise<ToolResult>(() => undefined));
    const playing = runTestProgram(code, { signal: stop.signal, tools: { hang }, limits: { timeMs: 60_000 } });
    if (waits) await begun.promise;
    else setTimeout(() => stop.abort(new Error("stop")), 200);
    if (waits) stop.abort(new Error("stop"));
    expect(await playing).toMatchObject({ outcome: "cancelled", text: "the program was cancelled" });
  });

  it("before it starts", async () => {
    expect(await runTestProgram("1", { signal: AbortSignal.abort() })).toMatchObject({ outcome: "cancelled" });
  });
});

describe("isolation from the process", () => {
  it("does not block the process while a program computes", async () => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 10);
    await runTestProgram("for (;;);", { limits: { timeMs: 1_000 } });
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  it("queues programs above the limit, and removes a cancelled one from the queue", async () => {
    const gate = deferred<ToolResult>();
    const tools = { wait: () => gate.promise };
    const stop = new AbortController();
    const all = Array.from({ length: 20 }, () => runTestProgram("(await tools.wait()).text", { tools }));
    const leaving = runTestProgram("1", { signal: stop.signal });
    stop.abort();
    expect((await leaving).outcome).toBe("cancelled");
    gate.resolve(ok("x"));
    expect(new Set((await Promise.all(all)).map(({ text }) => text))).toEqual(new Set(['=> "x"']));
  });

  it("frees the memory of ended programs", async () => {
    const once = () => runTestProgram("const a = new Array(1e6).fill(7); a.length");
    const some = async (count: number) => {
      for (let at = 0; at < count; at += 1) expect((await once()).text).toBe("=> 1000000");
      return process.memoryUsage().rss;
    };
    const before = await some(4);
    expect((await some(16)) - before).toBeLessThan(100 * 2 ** 20); // a quarter of what they used
  });
});
