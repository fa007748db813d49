import { describe, expect, it } from "vitest";
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { ToolResult } from "../../domain/index.ts";
import { Calls } from "./calls.ts";
import { codeTool } from "./index.ts";
import { ok, play } from "./test-program.ts";

const echo = { echo: (input: Record<string, unknown>) => ok(String(input["text"]), { input }) };

describe("a program", () => {
  it.each([
    ["the value of its last expression", "const a = 20; a * 2 + 2", "=> 42"],
    ["what it returns at its top", "if (true) return { a: [1, 2] };", '=> {"a":[1,2]}'],
    ["what a promise in its last expression came to", "(async () => 'later')()", '=> "later"'],
    ["nothing, where there is nothing", "const a = 1;", "[the program printed and returned nothing]"],
    [
      "what it printed",
      "console.log('a', { b: 1 }, [2], undefined, 3n, new Error('x'))",
      'a {"b":1} [2] undefined "3" Error: x\n',
    ],
    ["both", "console.log('said'); 7", "said\n=> 7"],
    [
      "maps, sets and functions as JSON has them",
      "({ m: new Map([[1, 2]]), s: new Set([3]), f() {} })",
      '=> {"m":[[1,2]],"s":[3],"f":"[function f]"}',
    ],
    ["text as it was, also what no C string holds", String.raw`"a\0b\ud800😀"`, String.raw`=> "a\u0000b\ud800😀"`],
  ])("gives back %s", async (_, code, text) => {
    expect(await play(code)).toMatchObject({ outcome: "ok", text });
  });

  it("calls tools as functions, and is given outcome, text and structured", async () => {
    const code = `const r = await tools.echo({ text: "hi" }); r`;
    const played = await play(code, { tools: echo });
    expect(played).toMatchObject({ outcome: "ok", calls: ['echo {"text":"hi"}'] });
    expect(played.text).toBe('=> {"outcome":"ok","text":"hi","structured":{"input":{"text":"hi"}}}');
  });

  it("has a failed and a denied call as outcomes, not as errors", async () => {
    const tools = {
      no: (): ToolResult => ({ outcome: "denied", text: "not now" }),
      "bad-one": (): ToolResult => ({ outcome: "failed", text: "broken" }),
    };
    const { text } = await play(`[await tools.no(), await tools["bad-one"]({})].map((r) => r.outcome)`, { tools });
    expect(text).toBe('=> ["denied","failed"]');
  });

  it("shows what it prints while it runs", async () => {
    const gate = deferred<ToolResult>();
    const tools = { wait: () => gate.promise };
    const playing = play(`console.log("before"); await tools.wait(); console.log("after")`, {
      tools: { wait: () => (gate.resolve(ok("")), tools.wait()) },
    });
    expect((await playing).progress).toBe("before\nafter\n");
  });

  it("may not call itself, ask people, or what is not there, and is told so", async () => {
    const code = `const why = []; for (const name of ["code", "ask", "nothing"]) { try { tools[name] } catch (e) { why.push(e.message) } } [why, Object.keys(tools)]`;
    const { text } = await play(code, { tools: echo });
    const [why, names] = JSON.parse(text.slice(3)) as [string[], string[]];
    expect(why.map((message) => message.split(";")[0])).toEqual([
      "there is no function tools.code",
      "there is no function tools.ask",
      "there is no function tools.nothing",
    ]);
    expect(names).toEqual(["echo"]);
  });

  it.each([
    ["no code", undefined],
    ["an empty one", ""],
    ["one that is too long", "1".repeat(100_001)],
  ])("is refused in words where it is %s", async (_, code) => {
    expect(await play(code)).toMatchObject({ outcome: "failed", text: expect.stringMatching(/^code: /) });
  });
});

describe("the calls of a program", () => {
  /** Tools whose calls are answered when the test says so. */
  function held() {
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

  it("run at once with Promise.all, eight of them, and the others after", async () => {
    const h = held();
    const playing = play(`(await Promise.all([...Array(10).keys()].map((n) => tools.a({ n })))).map((r) => r.text)`, {
      tools: { a: h.tool("a") },
    });
    await h.until(8);
    expect(h.names()).toHaveLength(8);
    h.answer("a7");
    await h.until(9);
    h.answer("a0");
    await h.until(10);
    for (const name of h.names()) h.answer(name);
    expect((await playing).text).toBe(`=> ${JSON.stringify([...Array(10).keys()].map((n) => `a${n}`))}`);
  });

  it("come back in the order in which they were made, whichever is quicker, so that a second run does the same", async () => {
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
      const h = held();
      const second = () => ok("");
      const playing = play(code, { tools: { first: h.tool("first"), second } });
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

  it("run alone where they change something", async () => {
    const h = held();
    const changes = { name: "w", description: "", inputSchema: {}, kind: "other", readOnly: false } as const;
    const specs = new Map([
      ["a", { ...changes, name: "a", readOnly: true }],
      ["w", changes],
    ]);
    const given: number[] = [];
    const calls = new Calls({
      specs,
      call: (name, input) => h.tool(name)(input as Record<string, unknown>),
      give: ({ id }) => void given.push(id),
      broke: (error) => expect.unreachable(String(error)),
    });
    for (const [id, name] of ["a", "a", "w", "a"].entries()) calls.ask({ id, name, input: `{"n":${id}}` });
    expect(h.names()).toEqual(["a0", "a1"]);
    for (const name of ["a1", "a0"]) h.answer(name);
    await h.until(3);
    expect(h.names()).toEqual(["a0", "a1", "w2"]);
    h.answer("w2");
    await h.until(4);
    h.answer("a3");
    await calls.close();
    expect(h.names()).toEqual(["a0", "a1", "w2", "a3"]);
    expect(given.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it("are waited for although the program does not, and what it does with them is done", async () => {
    const played = await play(`tools.echo({ text: "x" }).then((r) => console.log("got", r.text)); "first"`, {
      tools: echo,
    });
    expect(played.text).toBe('got x\n=> "first"');
  });

  it("that had begun when the program failed come to their end before it is told", async () => {
    const gate = deferred<ToolResult>();
    let settled = false;
    const slow = async () => {
      const result = await gate.promise;
      settled = true;
      return result;
    };
    const playing = play(`tools.slow(); throw new Error("no")`, { tools: { slow } });
    setTimeout(() => gate.resolve(ok("")), 300);
    const { text } = await playing;
    expect(settled).toBe(true);
    expect(text).toContain("Error: no");
    expect(text).toContain("[1 call of a tool was made before that; what it did is done]");
  });

  it("that wait for others when the program ends never begin", async () => {
    const gate = deferred<ToolResult>();
    const begun: unknown[] = [];
    const call = (name: string) => (begun.push(name), gate.promise);
    const never = (): never => expect.unreachable();
    const calls = new Calls({ specs: new Map(), call, give: never, broke: never });
    calls.ask({ id: 0, name: "a", input: "{}" });
    calls.ask({ id: 1, name: "b", input: "{}" });
    const closed = calls.close();
    gate.resolve(ok(""));
    await closed;
    expect([begun, calls.begun]).toEqual([["a"], 1]);
  });

  it.each([
    [
      "are bounded in number",
      "for (let i = 0; i < 9; i++) await tools.echo({})",
      /^RangeError: a program may make 5 calls/,
    ],
    ["take an object", "await tools.echo('x')", /^TypeError: tools\.echo takes one object/],
    ["take what is JSON", "const a = {}; a.a = a; await tools.echo(a)", /^TypeError: circular reference/],
    [
      "take no more than can be told",
      "await tools.echo({ a: 'x'.repeat(4_100_000) })",
      /^RangeError: the arguments of tools\.echo are too long/,
    ],
  ])("%s", async (_, code, words) => {
    const { outcome, text } = await play(code, { tools: echo, limits: { calls: 5 } });
    expect([outcome, text]).toEqual(["failed", expect.stringMatching(words)]);
  });

  it("give back no more than a program can hold", async () => {
    const { text } = await play(`(await tools.big()).text`, { tools: { big: () => ok("x".repeat(5_000_000)) } });
    expect(text).toMatch(/^=> "big was run \(ok\), but what it gave back is too long/);
  });

  it("that break the log end the program with what broke", async () => {
    const broken = new Error("the log is gone");
    await expect(play("await tools.a()", { tools: { a: () => Promise.reject(broken) } })).rejects.toBe(broken);
  });
});

describe("a program is the same each time", () => {
  const code = `
    const values = [Math.random(), Math.random(), Date.now(), new Date().toISOString(), new Date().getTimezoneOffset()];
    values.push(String(new Date(2020, 5, 1)), Date(), new (new Date().constructor)().getTime());
    values.push(new Date(2020, 5, 1, 12).toLocaleString(), typeof performance, Date.parse("2020-06-01T00:00"));
    values`;

  it("has no clock, no zone and the same chance", async () => {
    const first = await play(code, { toolId: "t1" });
    expect((await play(code, { toolId: "t1" })).text).toBe(first.text);
    expect(first.text).toContain("2000-01-01T00:00:00");
    expect(first.text).toContain("GMT+0000");
  });

  it("has another chance in another call", async () => {
    const [a, b] = await Promise.all(["t1", "t2"].map((toolId) => play("Math.random()", { toolId })));
    expect(a!.text).not.toBe(b!.text);
  });
});

describe("the tool", () => {
  const [spec] = codeTool({ limits: { calls: 7 } }).list();

  it("may run again after a crash, asks for no permission of its own, and stands alone", () => {
    expect(spec).toMatchObject({ name: "code", repeatable: true, readOnly: true, concurrent: false });
    expect(spec?.description).toContain("At most 7 calls");
  });

  it("tells people what it is about", () => {
    const source = codeTool();
    const call = (input: unknown) => source.describe({ toolId: "t", name: "code", input }).title;
    expect(call({ code: "\nconst a = 1;\nmore" })).toBe("Run a program: const a = 1;");
    expect(call(null)).toBe("Run a program");
  });
});
