import { describe, expect, it } from "vitest";
import { ok, runTestProgram } from "./test-program.ts";

/** Globals with which a program in Node could reach the machine. */
const HOST = [
  "process", "require", "module", "Buffer", "fetch", "setTimeout", "setInterval", "setImmediate", "queueMicrotask",
  "structuredClone", "WebAssembly", "Worker", "parentPort", "postMessage", "importScripts", "performance", "navigator",
  "XMLHttpRequest", "WebSocket", "Deno", "Bun", "std", "os", "scriptArgs", "print", "load", "bjson", "gc",
  "__dirname", "__filename", "Module", "HEAPU8",
]; // prettier-ignore

describe("a program can reach only its tools", () => {
  it("sees no globals of the host", async () => {
    const { text } = await runTestProgram(`${JSON.stringify(HOST)}.filter((name) => name in globalThis)`);
    expect(text).toBe("=> []");
  });

  it.each([
    ["a tool's constructor", "tools.echo.constructor('return globalThis')()"],
    ["the constructor of a tool's result", "(await tools.echo({})).constructor.constructor('return this')()"],
    ["the constructor of its promise", "tools.echo({}).constructor.constructor('return this')()"],
    ["console", "console.log.constructor('return this')()"],
    ["an async function's constructor", "await (async () => {}).constructor('return globalThis')()"],
    ["a generator's constructor", "(function* () {}).constructor('return globalThis')().next().value"],
    ["an error of the prelude", "await tools.echo(1).catch((e) => e.constructor.constructor('return globalThis')())"],
    [
      "an error of a limit",
      "for (let i = 0; i < 3; i++) tools.echo({}); await tools.echo({}).catch((e) => e.constructor.constructor('return this')())",
    ],
    ["eval", "(0, eval)('globalThis')"],
    ["Reflect", "Reflect.construct(Function, ['return globalThis'])()"],
    [
      "the caller",
      "(function f() { return (f.caller ?? globalThis.constructor).constructor('return globalThis')(); })()",
    ],
  ])("gets only its own global object through %s", async (_, way) => {
    const code = `const found = ${way.startsWith("for") ? `await (async () => { ${way.replace("await tools.echo({}).catch", "return tools.echo({}).catch")} })()` : way};
      [found === globalThis, typeof found.process, typeof found.require, typeof found.Buffer]`;
    const { text } = await runTestProgram(code, { tools: { echo: () => ok("x", { a: 1 }) }, limits: { calls: 3 } });
    expect(text).toBe('=> [true,"undefined","undefined","undefined"]');
  });

  it("changes prototypes, JSON and promises only for itself", async () => {
    const code = `
      Object.prototype.outcome = "ok"; Object.prototype.polluted = "yes"; Array.prototype.map = () => "spoiled";
      JSON.parse = () => ({ outcome: "forged" }); JSON.stringify = () => "forged";
      Promise.prototype.then = new Proxy(Promise.prototype.then, {});
      globalThis.Promise = undefined; Map.prototype.get = () => "x";
      const { text } = await tools.echo({ a: 1 }); text`;
    const played = await runTestProgram(code, { tools: { echo: () => ok("true") } });
    expect(played).toMatchObject({ text: '=> "true"', calls: ['echo {"a":1}'] });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect((await runTestProgram("[{}.polluted, JSON.stringify({ a: [1].map((n) => n + 1) })]")).text).toBe(
      String.raw`=> [null,"{\"a\":[2]}"]`,
    );
  });

  it("cannot call an excluded tool by changing the tools object", async () => {
    const code = `
      const tries = [() => { tools.code = 1 }, () => { tools.echo.name = "code" }, () => { delete tools.echo; },
        () => Object.defineProperty(tools, "code", { value: 1 }), () => Object.setPrototypeOf(tools, { code: 1 })];
      let kept = 0;
      for (const attempt of tries) { try { attempt() } catch { } }
      try { tools.code } catch { kept += 1 }
      await tools.echo({}); kept`;
    const played = await runTestProgram(code, { tools: { echo: () => ok("") } });
    expect(played).toMatchObject({ text: "=> 1", calls: ["echo {}"] });
  });

  it("passes keys such as __proto__ to tools as plain data", async () => {
    const code = `await tools.echo(JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')); 0`;
    const played = await runTestProgram(code, { tools: { echo: () => ok("") } });
    expect(played.calls).toEqual(['echo {"__proto__":{"a":1},"constructor":2}']);
  });
});
