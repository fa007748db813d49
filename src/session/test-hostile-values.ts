/** Values that plain JavaScript may return or throw in place of what was promised: see `hostile-returns.slow.test.ts`. */

const LONG = 3_000_000;

const fail = (): never => {
  throw new Error("a trap");
};
const trapped = (): object =>
  new Proxy(
    {},
    { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail, set: fail },
  );

/** "Error" could be the name of a tool. */
const named = (error: Error): Error => Object.assign(error, { name: "no tool" });

function cyclic(): object {
  const value: Record<string, unknown> = { list: [] };
  value["self"] = value;
  (value["list"] as unknown[]).push(value);
  return value;
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function sparse(): unknown[] {
  const list: unknown[] = [];
  list[5] = "last";
  return list;
}

/** An object whose every field throws when it is read. */
function withThrowingFields(...names: readonly string[]): object {
  return Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, { enumerable: true, get: fail }])));
}

const FIELDS = ["id", "name", "title", "text", "outcome", "message", "type", "then", "toString", "slot", "refuse"];

export const HOSTILE_VALUES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  "a number": () => 5,
  NaN: () => NaN,
  true: () => true,
  "an empty text": () => "",
  "a long text": () => "x".repeat(LONG),
  "half a character": () => "\ud800",
  "a null character": () => "a\u0000b",
  "a symbol": () => Symbol("s"),
  "a BigInt": () => 5n,
  "a function": () => fail,
  "a date": () => new Date(0),
  "a date that is none": () => new Date(NaN),
  "a map": () => new Map([["a", 1]]),
  "a set": () => new Set([1]),
  bytes: () => new Uint8Array(3),
  "an array": () => [1, "two"],
  "a sparse array": sparse,
  "an empty object": () => ({}),
  "an object without a prototype": () => Object.create(null) as object,
  "a frozen object": () => Object.freeze({ a: 1 }),
  "a cyclic object": cyclic,
  "an object that nests 900 levels deep": () => nested(900),
  "an object that nests 3,000 levels deep": () => nested(3_000),
  "an object that nests 100,000 levels deep": () => nested(100_000),
  "an object whose fields throw": () => withThrowingFields(...FIELDS),
  "a proxy that throws": trapped,
  "an object whose toJSON throws": () => ({ toJSON: fail }),
  "an object whose toJSON returns nothing": () => ({ toJSON: () => undefined }),
  "an object whose toString throws": () => ({ toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail }),
  "an error whose message throws": () => Object.defineProperty(named(new Error("m")), "message", { get: fail }),
  "an error whose message is no text": () => Object.assign(named(new Error("m")), { message: { a: 1 } }),
  "an error with a long message": () => named(new Error("x".repeat(LONG))),
  "a thenable that throws": () => ({ then: fail }),
  "an object with a field __proto__": () => JSON.parse('{"__proto__":{"a":1},"constructor":5}') as unknown,
};
