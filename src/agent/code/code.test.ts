import { describe, expect, it } from "vitest";
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { ToolResult } from "../../domain/index.ts";
import { ProgramCalls } from "./program-calls.ts";
import { createCodeTool } from "./index.ts";
import { ok, runTestProgram } from "./test-program.ts";

const echo = { echo: (input: Record<string, unknown>) => ok(String(input["text"]), { input }) };

describe("a program", () => {
  it.each([
    ["the value of its last expression", "const a = 20; a * 2 + 2", "=> 42"],
    ["the value that it returns at the top level", "if (true) return { a: [1, 2] };", '=> {"a":[1,2]}'],
    ["the value of a promise in its last expression", "(async () => 'later')()", '=> "later"'],
    ["a note if there is no output and no value", "const a = 1;", "[the program printed and returned nothing]"],
    [
      "its output",
      "console.log('a', { b: 1 }, [2], undefined, 3n, new Error('x'))",
      'a {"b":1} [2] undefined "3" Error: x\n',
    ],
    ["its output and its value", "console.log('said'); 7", "said\n=> 7"],
    [
      "maps, sets and functions as JSON",
      "({ m: new Map([[1, 2]]), s: new Set([3]), f() {} })",
      '=> {"m":[[1,2]],"s":[3],"f":"[function f]"}',
    ],
    [
      "text with NUL characters and unpaired surrogates unchanged",
      String.raw`"a\0b\ud800😀"`,
      String.raw`=> "a\u0000b\ud800😀"`,
    ],
  ])("returns %s", async (_, code, text) => {
    expect(await runTestProgram(code)).toMatchObject({ outcome: "ok", text });
  });

  it("calls tools as functions, and gets outcome, text and structured", async () => {
    const code = `const r = await tools.echo({ text: "hi" }); r`;
    const played = await runTestProgram(code, { tools: echo });
    expect(played).toMatchObject({ outcome: "ok", calls: ['echo {"text":"hi"}'] });
    expect(played.text).toBe('=> {"outcome":"ok","text":"hi","structured":{"input":{"text":"hi"}}}');
  });

  it("gets failed and denied calls as outcomes, not as errors", async () => {
    const tools = {
      no: (): ToolResult => ({ outcome: "denied", text: "not now" }),
      "bad-one": (): ToolResult => ({ outcome: "failed", text: "broken" }),
    };
    const { text } = await runTestProgram(`[await tools.no(), await tools["bad-one"]({})].map((r) => r.outcome)`, {
      tools,
    });
    expect(text).toBe('=> ["denied","failed"]');
  });

  it("reports its output while it runs", async () => {
    const gate = deferred<ToolResult>();
    const tools = { wait: () => gate.promise };
    const playing = runTestProgram(`console.log("before"); await tools.wait(); console.log("after")`, {
      tools: { wait: () => (gate.resolve(ok("")), tools.wait()) },
    });
    expect((await playing).progress).toBe("before\nafter\n");
  });

  it("gets an error for the tools code and ask and for unknown tools", async () => {
    const code = `const why = []; for (const name of ["code", "ask", "nothing"]) { try { tools[name] } catch (e) { why.push(e.message) } } [why, Object.keys(tools)]`;
    const { text } = await runTestProgram(code, { tools: echo });
    const [why, names] = JSON.parse(text.slice(3)) as [string[], string[]];
    expect(why.map((message) => message.split(";")[0])).toEqual([
      "there is no function tools.code",
      "there is no function tools.ask",
      "there is no function tools.nothing",
    ]);
    expect(names).toEqual(["echo"]);
  });

  it.each([
    ["missing", undefined],
    ["empty", ""],
    ["too long", "1".repeat(100_001)],
  ])("is rejected with a message if it is %s", async (_, code) => {
    expect(await runTestProgram(code)).toMatchObject({ outcome: "failed", text: expect.stringMatching(/^code: /) });
  });
});

describe("the calls of a program", () => {
  /** Tools whose calls are answered when the test resolves them. */
  function createHeldTools() {
    const asked: { name: string; answer: Deferred<ToolResult> }[] = [];
    const waiters: { count: number; reached: Deferred<void> }[] = [];
    const tool = (name: string) => (input: Record<string, unknown>) => {
      const answer = deferred<ToolResult>();
      asked.push({ name: `${name}${JSON.stringify(input["n"])}`, answer });
      for (const { count, reached } of waiters) if (asked.length >= count) reached.resolve();
      return answer.promise;
    };
    const until = (count: number) => {
      const reached = deferred();
      waiters.push({ count, reached });
      if (asked.length >= count) reached.resolve();
      return reached.promise;
    };
    const answer = (name: string) => asked.find((one) => one.name === name)?.answer.resolve(ok(name));
    return { tool, until, answer, names: () => asked.map(({ name }) => name) };
  }

  it("run concurrently with Promise.all, at most eight at a time", async () => {
    const h = createHeldTools();
    const playing = runTestProgram(
      `(await Promise.all([...Array(10).keys()].map((n) => tools.a({ n })))).map((r) => r.text)`,
      {
        tools: { a: h.tool("a") },
      },
    );
    await h.until(8);
    expect(h.names()).toHaveLength(8);
    h.answer("a7");
    await h.until(9);
    h.answer("a0");
    await h.until(10);
    for (const name of h.names()) h.answer(name);
    expect((await playing).text).toBe(`=> ${JSON.stringify([...Array(10).keys()].map((n) => `a${n}`))}`);
  });

  it("return in the order of the calls, whichever is faster, so that a second run behaves the same", async () => {
    const code = `
      const chain = async (n) => { const r = await tools.first({ n }); await tools.second({ n }); return r.text; };
      await Promise.all([chain(1), chain(2), chain(3)]);
      await Promise.race([tools.first({ n: 4 }), tools.first({ n: 5 })]).then((r) => r.text)`;
    const orders = [
      ["first1", "first2", "first3", "first4", "first5"],
      ["first3", "first2", "first1", "first5", "first4"],
    ];
    const seen: unknown[] = [];
    for (const order of orders) {
      const h = createHeldTools();
      const second = () => ok("");
      const playing = runTestProgram(code, { tools: { first: h.tool("first"), second } });
      await h.until(3);
      for (const name of order.slice(0, 3)) h.answer(name);
      await h.until(5);
      for (const name of order.slice(3)) h.answer(name);
      const { text, calls } = await playing;
      seen.push({ text, calls });
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ text: '=> "first4"' });
  });

  it("run alone if they change something", async () => {
    const h = createHeldTools();
    const changes = { name: "w", description: "", inputSchema: {}, kind: "other", readOnly: false } as const;
    const specs = new Map([
      ["a", { ...changes, name: "a", readOnly: true }],
      ["w", changes],
    ]);
    const delivered: number[] = [];
    const calls = new ProgramCalls({
      specs,
      call: (name, input) => h.tool(name)(input as Record<string, unknown>),
      deliverResult: ({ id }) => void delivered.push(id),
      fail: (error) => expect.unreachable(String(error)),
    });
    for (const [id, name] of ["a", "a", "w", "a"].entries()) calls.request({ id, name, input: `{"n":${id}}` });
    expect(h.names()).toEqual(["a0", "a1"]);
    for (const name of ["a1", "a0"]) h.answer(name);
    await h.until(3);
    expect(h.names()).toEqual(["a0", "a1", "w2"]);
    h.answer("w2");
    await h.until(4);
    h.answer("a3");
    await calls.close();
    expect(h.names()).toEqual(["a0", "a1", "w2", "a3"]);
    expect(delivered.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it("are awaited with their handlers even if the program does not await them", async () => {
    const played = await runTestProgram(`tools.echo({ text: "x" }).then((r) => console.log("got", r.text)); "first"`, {
      tools: echo,
    });
    expect(played.text).toBe('got x\n=> "first"');
  });

  it("end before the failure of the program is reported", async () => {
    const gate = deferred<ToolResult>();
    let settled = false;
    const slow = async () => {
      const result = await gate.promise;
      settled = true;
      return result;
    };
    const playing = runTestProgram(`tools.slow(); throw new Error("no")`, { tools: { slow } });
    setTimeout(() => gate.resolve(ok("")), 300);
    const { text } = await playing;
    expect(settled).toBe(true);
    expect(text).toContain("Error: no");
    expect(text).toContain("[1 tool call was made before; its effects remain]");
  });

  it("never start if they are waiting when the program ends", async () => {
    const gate = deferred<ToolResult>();
    const begun: unknown[] = [];
    const call = (name: string) => (begun.push(name), gate.promise);
    const never = (): never => expect.unreachable();
    const calls = new ProgramCalls({ specs: new Map(), call, deliverResult: never, fail: never });
    calls.request({ id: 0, name: "a", input: "{}" });
    calls.request({ id: 1, name: "b", input: "{}" });
    const closed = calls.close();
    gate.resolve(ok(""));
    await closed;
    expect([begun, calls.startedCount]).toEqual([["a"], 1]);
  });

  it.each([
    [
      "are limited in number",
      "for (let i = 0; i < 9; i++) await tools.echo({})",
      /^RangeError: a program may make at most 5 calls/,
    ],
    ["require an object", "await tools.echo('x')", /^TypeError: tools\.echo takes one object/],
    ["require JSON arguments", "const a = {}; a.a = a; await tools.echo(a)", /^TypeError: circular reference/],
    [
      "limit the length of their arguments",
      "await tools.echo({ a: 'x'.repeat(4_100_000) })",
      /^RangeError: the arguments of tools\.echo are too long/,
    ],
  ])("%s", async (_, code, words) => {
    const { outcome, text } = await runTestProgram(code, { tools: echo, limits: { calls: 5 } });
    expect([outcome, text]).toEqual(["failed", expect.stringMatching(words)]);
  });

  it("fail if their result is too long for a program", async () => {
    const { text } = await runTestProgram(`(await tools.big()).text`, {
      tools: { big: () => ok("x".repeat(5_000_000)) },
    });
    expect(text).toMatch(/^=> "big ran \(ok\), but its result is too long/);
  });

  it("reject the program with the error of a broken log", async () => {
    const broken = new Error("the log is gone");
    await expect(runTestProgram("await tools.a()", { tools: { a: () => Promise.reject(broken) } })).rejects.toBe(
      broken,
    );
  });
});

describe("determinism", () => {
  const code = `
    const values = [Math.random(), Math.random(), Date.now(), new Date().toISOString(), new Date().getTimezoneOffset()];
    values.push(String(new Date(2020, 5, 1)), Date(), new (new Date().constructor)().getTime());
    values.push(new Date(2020, 5, 1, 12).toLocaleString(), typeof performance, Date.parse("2020-06-01T00:00"));
    values`;

  it("has a fixed clock, a fixed time zone and the same random numbers", async () => {
    const first = await runTestProgram(code, { toolId: "t1" });
    expect((await runTestProgram(code, { toolId: "t1" })).text).toBe(first.text);
    expect(first.text).toContain("2000-01-01T00:00:00");
    expect(first.text).toContain("GMT+0000");
  });

  it("has other random numbers in another call", async () => {
    const [a, b] = await Promise.all(["t1", "t2"].map((toolId) => runTestProgram("Math.random()", { toolId })));
    expect(a!.text).not.toBe(b!.text);
  });
});

describe("the tool", () => {
  const [spec] = createCodeTool({ limits: { calls: 7 } }).list();

  it("is repeatable and read-only, and runs alone", () => {
    expect(spec).toMatchObject({ name: "code", repeatable: true, readOnly: true, concurrent: false });
    expect(spec?.description).toContain("At most 7 calls");
  });

  it("shows the first line of the program in its title", () => {
    const source = createCodeTool();
    const call = (input: unknown) => source.describe({ toolId: "t", name: "code", input }).title;
    expect(call({ code: "\nconst a = 1;\nmore" })).toBe("Run a program: const a = 1;");
    expect(call(null)).toBe("Run a program");
  });
});
