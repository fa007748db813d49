import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { ToolResult } from "../../domain/index.ts";
import { ok, play } from "./test-program.ts";

const SHORT = { timeMs: 300 };

describe("a program that goes wrong ends in words", () => {
  it.each([
    ["computes for ever", "for (;;);", /computed for more than 0\.3 s/],
    [
      "computes for ever and catches everything",
      "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
      /computed for more/,
    ],
    ["makes jobs for ever", "for (;;) await 1;", /computed for more/],
    ["computes for ever after a call", "await tools.a(); for (;;);", /computed for more/],
    ["computes for ever while it tells its value", "({ toJSON() { for (;;); } })", /computed for more/],
    [
      "computes for ever while it tells its error",
      "throw { get name() { for (;;); }, toJSON() { for (;;); } }",
      /computed for more|ran out/,
    ],
    ["has an expression that never ends", "/(a+)+$/.test('a'.repeat(50) + 'b')", /computed for more/],
    ["is busy where nobody looks at the time", "new Array(4e9).indexOf(1)", /computed for more/],
    ["waits for what never comes", "await new Promise(() => {})", /waits for a promise that nothing will settle/],
    ["waits at a lock", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", /Error: |computed for more/],
    ["throws", "\n\nnull.x", /^TypeError: cannot read property 'x' of null\n.*program\.js:3/],
    [
      "throws in a function",
      "const f = () => { throw new RangeError('mine') };\nf();",
      /^RangeError: mine\n.*program\.js:1:.*\n.*program\.js:2/,
    ],
    ["throws what is no error", "throw { code: 7 }", /^it threw \{"code":7\}/],
    ["rejects", "await Promise.reject(new Error('later'))", /^Error: later/],
    ["cannot be read", "const a = 1;\nconst b = ;", /^SyntaxError: .*\n.*program\.js:2:/],
    [
      "cannot be read, with a return",
      "const a = 1;\nif (a) return 1;\nconst b = ;",
      /^SyntaxError: .*\n.*program\.js:3:/,
    ],
    ["imports", "import fs from 'node:fs'", /^SyntaxError: /],
    ["imports later", "await import('node:fs')", /Error: /],
    ["has a value that is no JSON", "const a = {}; a.a = a; a", /^TypeError: circular reference/],
  ])("where it %s", async (_, code, words) => {
    const played = await play(code, { limits: SHORT, tools: { a: () => ok("") } });
    expect([played.outcome, played.text]).toEqual(["failed", expect.stringMatching(words)]);
    expect(played.text.length).toBeLessThan(5_000);
  });

  it.each([
    [
      "fills the memory",
      "const a = []; for (;;) a.push(new Array(1000).fill(a.length));",
      /ran out of memory: it may use 64 MB/,
    ],
    ["fills it with text", "let s = 'x'; for (;;) s += s + 'y'.repeat(1e6);", /ran out of memory|string too long/],
    ["fills it with bytes", "const a = []; for (;;) a.push(new Uint8Array(1e7));", /ran out of memory/],
    ["asks for one huge thing", "'x'.repeat(1e9)", /ran out of memory|string/],
    ["goes too deep", "const f = () => f() + 1; f()", /InternalError: stack overflow|too deep/],
    [
      "goes too deep in JSON",
      "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; o",
      /stack overflow|too deep|computed/,
    ],
  ])("where it %s", async (_, code, words) => {
    const played = await play(code);
    expect([played.outcome, played.text]).toEqual(["failed", expect.stringMatching(words)]);
  });

  it("does not count the time for which it waits for a tool", async () => {
    const slow = () => new Promise<ToolResult>((resolve) => setTimeout(() => resolve(ok("slow")), 800));
    expect(await play("(await tools.slow()).text", { limits: SHORT, tools: { slow } })).toMatchObject({
      text: '=> "slow"',
    });
  });

  it("goes on after a failure inside that it caught", async () => {
    const code = `const f = () => f() + 1; let why; try { f() } catch (e) { why = e.message } why`;
    expect((await play(code)).text).toBe('=> "stack overflow"');
  });

  it("is not disturbed by a rejection that nothing waits for", async () => {
    expect((await play("Promise.reject(new Error('alone')); 1")).text).toBe("=> 1");
  });

  it("prints and returns no more than the limit, and says how much is left out", async () => {
    const { text } = await play("for (let i = 0; i < 1e4; i++) console.log('0123456789'); 'x'.repeat(500)", {
      limits: { output: 110 },
    });
    expect(text.length).toBeLessThan(400);
    expect(text).toContain("[109890 more characters were printed and are left out]");
    expect(text).toMatch(/\[392 more characters are left out\]$/);
  });

  it("where its runtime dies", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rookery-code-"));
    try {
      for (const [name, source, words] of [
        ["exit.mjs", "process.exit(3)", /stopped unexpectedly \(exit code 3\)/],
        ["throw.mjs", "throw new Error('defect')", /stopped unexpectedly \(defect\)/],
        ["heap.mjs", "const a = []; for (;;) a.push(new Array(1e6).fill(a))", /ran out of memory/],
      ] as const) {
        const file = join(folder, name);
        await writeFile(file, source);
        expect(await play("1", { file })).toMatchObject({ outcome: "failed", text: expect.stringMatching(words) });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("a cancelled program ends at once", () => {
  it.each([
    ["while it computes", "for (;;);", false],
    ["while it waits for a tool", "await tools.hang()", true],
    ["while it is busy where nobody looks", "console.log(1); new Array(4e9).indexOf(1)", false],
  ])("%s", async (_, code, waits) => {
    const stop = new AbortController();
    const begun = deferred();
    const hang = () => (begun.resolve(), new Promise<ToolResult>(() => undefined));
    const playing = play(code, { signal: stop.signal, tools: { hang }, limits: { timeMs: 60_000 } });
    if (waits) await begun.promise;
    else setTimeout(() => stop.abort(new Error("enough")), 200);
    if (waits) stop.abort(new Error("enough"));
    expect(await playing).toMatchObject({ outcome: "cancelled", text: "the program was cancelled" });
  });

  it("before it began", async () => {
    expect(await play("1", { signal: AbortSignal.abort() })).toMatchObject({ outcome: "cancelled" });
  });
});

describe("a program holds up nobody", () => {
  it("the process goes on while it computes", async () => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 10);
    await play("for (;;);", { limits: { timeMs: 1_000 } });
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  it("more than may run at once wait for their turn, and one that is cancelled leaves the line", async () => {
    const gate = deferred<ToolResult>();
    const tools = { wait: () => gate.promise };
    const stop = new AbortController();
    const all = Array.from({ length: 20 }, () => play("(await tools.wait()).text", { tools }));
    const leaving = play("1", { signal: stop.signal });
    stop.abort();
    expect((await leaving).outcome).toBe("cancelled");
    gate.resolve(ok("x"));
    expect(new Set((await Promise.all(all)).map(({ text }) => text))).toEqual(new Set(['=> "x"']));
  });

  it("memory is given back", async () => {
    const once = () => play("const a = new Array(1e6).fill(7); a.length");
    const some = async (count: number) => {
      for (let at = 0; at < count; at += 1) expect((await once()).text).toBe("=> 1000000");
      return process.memoryUsage().rss;
    };
    const before = await some(4);
    expect((await some(16)) - before).toBeLessThan(100 * 2 ** 20); // a quarter of what they used
  });
});
