/**
 * The code that runs in QuickJS before the program and defines `tools` and `console`. Its only connections to the host
 * are two functions that take text. The program may overwrite everything that it can see without effect on the host:
 * the prelude captures beforehand what it uses later.
 */
export const PRELUDE = String.raw`(function (hostCall, hostPrint, namesText, seedText) {
  "use strict";
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const text = String;
  const Failure = TypeError;
  const OriginalPromise = Promise;
  const waiting = Object.create(null);

  const encode = (value) => stringify(value, (key, inner) => {
    if (typeof inner === "bigint") return text(inner);
    if (typeof inner === "function") return "[function " + inner.name + "]";
    if (inner instanceof Map) return [...inner];
    if (inner instanceof Set) return [...inner];
    if (inner instanceof Error) return text(inner);
    return inner;
  });

  const caller = (name) => {
    const call = (input = {}) => new OriginalPromise((resolve, reject) => {
      if (typeof input !== "object" || input === null || isArray(input)) {
        throw new Failure("tools." + name + " takes one object with its arguments");
      }
      waiting[hostCall(name, stringify(input))] = resolve;
    });
    Object.defineProperty(call, "name", { value: name });
    return Object.freeze(call);
  };
  const functions = Object.create(null);
  for (const name of parse(namesText)) functions[name] = caller(name);
  Object.freeze(functions);
  const tools = new Proxy(functions, {
    get(target, name) {
      if (typeof name === "symbol" || name in target || name === "then" || name === "toJSON") return target[name];
      throw new Failure("there is no function tools." + name + "; Object.keys(tools) lists the available ones");
    },
  });

  const format = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return text(value);
    try {
      return encode(value) ?? text(value);
    } catch {
      return "[object that is not valid JSON]";
    }
  };
  const print = (...values) => {
    let line = "";
    for (let at = 0; at < values.length; at += 1) line += (at > 0 ? " " : "") + format(values[at]);
    hostPrint(stringify(line));
  };
  const console = Object.freeze({ log: print, info: print, warn: print, error: print, debug: print, table: print });

  let state = 0x9e3779b9;
  for (const letter of parse(seedText)) state = Math.imul(state ^ letter.codePointAt(0), 0x01000193) >>> 0;
  const { imul } = Math;
  Math.random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const define = (name, value) => Object.defineProperty(globalThis, name, { value, enumerable: true });
  define("tools", tools);
  define("console", console);

  return {
    settle(id, result) {
      const resolve = waiting[id];
      delete waiting[id];
      resolve(parse(result));
    },
    async conclude(program, isWrapped) {
      const value = isWrapped ? (await program).value : await program;
      return encode(await value) ?? "";
    },
    explain(error) {
      if (!(error instanceof Error)) return stringify({ message: "the program threw " + format(error) });
      return stringify({ name: text(error.name), message: text(error.message), stack: text(error.stack) });
    },
  };
})`;
