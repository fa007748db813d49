import { describe, expect, it } from "vitest";
import { ok, play } from "./test-program.ts";

/** Names of what a program in Node could reach the machine with. */
const HOST = [
  "process", "require", "module", "Buffer", "fetch", "setTimeout", "setInterval", "setImmediate", "queueMicrotask",
  "structuredClone", "WebAssembly", "Worker", "parentPort", "postMessage", "importScripts", "performance", "navigator",
  "XMLHttpRequest", "WebSocket", "Deno", "Bun", "std", "os", "scriptArgs", "print", "load", "bjson", "gc",
  "__dirname", "__filename", "Module", "HEAPU8",
]; // prettier-ignore

describe("a program reaches nothing but its tools", () => {
  it("has nothing of the host in sight", async () => {
    const { text } = await play(`${JSON.stringify(HOST)}.filter((name) => name in globalThis)`);
    expect(text).toBe("=> []");
  });

  it.each([
    ["a tool's constructor", "tools.echo.constructor('return globalThis')()"],
    ["the constructor of what a tool gave", "(await tools.echo({})).constructor.constructor('return this')()"],
    ["the constructor of its promise", "tools.echo({}).constructor.constructor('return this')()"],
    ["console", "console.log.constructor('return this')()"],
    ["an async function's constructor", "await (async () => {}).constructor('return globalThis')()"],
    ["a generator's constructor", "(function* () {}).constructor('return globalThis')().next().value"],
    ["an error of ours", "await tools.echo(1).catch((e) => e.constructor.constructor('return globalThis')())"],
    [
      "an error of the limits",
      "for (let i = 0; i < 3; i++) tools.echo({}); await tools.echo({}).catch((e) => e.constructor.constructor('return this')())",
    ],
    ["eval", "(0, eval)('globalThis')"],
    ["Reflect", "Reflect.construct(Function, ['return globalThis'])()"],
    [
      "the caller",
      "(function f() { return (f.caller ?? globalThis.constructor).constructor('return globalThis')(); })()",
    ],
  ])("by %s it finds its own world again", async (_, way) => {
    const code = `const found = ${way.startsWith("for") ? `await (async () => { ${way.replace("await tools.echo({}).catch", "return tools.echo({}).catch")} })()` : way};
      [found === globalThis, typeof found.process, typeof found.require, typeof found.Buffer]`;
    const { text } = await play(code, { tools: { echo: () => ok("x", { a: 1 }) }, limits: { calls: 3 } });
    expect(text).toBe('=> [true,"undefined","undefined","undefined"]');
  });

  it("spoils prototypes, JSON and promises for itself alone", async () => {
    const code = `
      Object.prototype.outcome = "ok"; Object.prototype.polluted = "yes"; Array.prototype.map = () => "spoiled";
      JSON.parse = () => ({ outcome: "forged" }); JSON.stringify = () => "forged";
      Promise.prototype.then = new Proxy(Promise.prototype.then, {});
      globalThis.Promise = undefined; Map.prototype.get = () => "x";
      const { text } = await tools.echo({ a: 1 }); text`;
    const played = await play(code, { tools: { echo: () => ok("true") } });
    expect(played).toMatchObject({ text: '=> "true"', calls: ['echo {"a":1}'] });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect((await play("[{}.polluted, JSON.stringify({ a: [1].map((n) => n + 1) })]")).text).toBe(
      String.raw`=> [null,"{\"a\":[2]}"]`,
    );
  });

  it("cannot make a call of what it may not call, whatever it does to its tools", async () => {
    const code = `
      const tries = [() => { tools.code = 1 }, () => { tools.echo.name = "code" }, () => { delete tools.echo; },
        () => Object.defineProperty(tools, "code", { value: 1 }), () => Object.setPrototypeOf(tools, { code: 1 })];
      let kept = 0;
      for (const attempt of tries) { try { attempt() } catch { } }
      try { tools.code } catch { kept += 1 }
      await tools.echo({}); kept`;
    const played = await play(code, { tools: { echo: () => ok("") } });
    expect(played).toMatchObject({ text: "=> 1", calls: ["echo {}"] });
  });

  it("gives keys of prototypes to tools as what they are: texts", async () => {
    const code = `await tools.echo(JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')); 0`;
    const played = await play(code, { tools: { echo: () => ok("") } });
    expect(played.calls).toEqual(['echo {"__proto__":{"a":1},"constructor":2}']);
  });
});
