/** Invalid values that plain JavaScript can return or throw, for `hostile-returns.slow.test.ts`. */

const LONG_LENGTH = 3_000_000;

const fail = (): never => {
  throw new Error("a trap");
};
const throwingProxy = (): object =>
  new Proxy(
    {},
    { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail, set: fail },
  );

/** Changes the name of the error, because "Error" could be the name of a tool. */
const renameError = (error: Error): Error => Object.assign(error, { name: "no tool" });

function createCyclic(): object {
  const value: Record<string, unknown> = { list: [] };
  value["self"] = value;
  (value["list"] as unknown[]).push(value);
  return value;
}

function createNested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function createSparse(): unknown[] {
  const list: unknown[] = [];
  list[5] = "last";
  return list;
}

/** Creates an object whose fields throw when they are read. */
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
  "an empty string": () => "",
  "a long string": () => "x".repeat(LONG_LENGTH),
  "half a surrogate pair": () => "\ud800",
  "a null character": () => "a\u0000b",
  "a symbol": () => Symbol("s"),
  "a BigInt": () => 5n,
  "a function": () => fail,
  "a date": () => new Date(0),
  "an invalid date": () => new Date(NaN),
  "a map": () => new Map([["a", 1]]),
  "a set": () => new Set([1]),
  bytes: () => new Uint8Array(3),
  "an array": () => [1, "two"],
  "a sparse array": createSparse,
  "an empty object": () => ({}),
  "an object without a prototype": () => Object.create(null) as object,
  "a frozen object": () => Object.freeze({ a: 1 }),
  "a cyclic object": createCyclic,
  "an object with 900 levels": () => createNested(900),
  "an object with 3,000 levels": () => createNested(3_000),
  "an object with 100,000 levels": () => createNested(100_000),
  "an object whose fields throw": () => withThrowingFields(...FIELDS),
  "a proxy that throws": throwingProxy,
  "an object whose toJSON throws": () => ({ toJSON: fail }),
  "an object whose toJSON returns nothing": () => ({ toJSON: () => undefined }),
  "an object whose toString throws": () => ({ toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail }),
  "an error whose message throws": () => Object.defineProperty(renameError(new Error("m")), "message", { get: fail }),
  "an error whose message is not a string": () => Object.assign(renameError(new Error("m")), { message: { a: 1 } }),
  "an error with a long message": () => renameError(new Error("x".repeat(LONG_LENGTH))),
  "a thenable that throws": () => ({ then: fail }),
  "an object with a field __proto__": () => JSON.parse('{"__proto__":{"a":1},"constructor":5}') as unknown,
};
