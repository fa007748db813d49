/**
 * Checks the arguments of public functions without schemas: for stores, whose reads are frequent, and for the client,
 * which runs in a browser. All other arguments are checked with `parseInput`.
 */
import { RookeryError } from "./errors.ts";

/** Returns what the value must be, or undefined if it is valid. */
export type ArgumentCheck = (value: unknown) => string | undefined;

export type FieldChecks = Readonly<Record<string, ArgumentCheck>>;

/** Throws `input_invalid`, even if reading the value throws, as with a getter or a proxy. */
export function checkArgument(value: unknown, check: ArgumentCheck, what: string): void {
  const problem = findArgumentProblem(value, check);
  if (problem !== undefined) throw new RookeryError("input_invalid", `${what} is invalid: ${problem}`);
}

function findArgumentProblem(value: unknown, check: ArgumentCheck): string | undefined {
  try {
    return check(value);
  } catch (cause) {
    throw new RookeryError("input_invalid", "an argument cannot be read: one of its fields throws an error", { cause });
  }
}

export const textArgument: ArgumentCheck = (value) => (typeof value === "string" ? undefined : "expected a string");

export const flagArgument: ArgumentCheck = (value) =>
  typeof value === "boolean" ? undefined : "expected true or false";

/** An integer that a double represents exactly. */
export const integerArgument: ArgumentCheck = (value) =>
  Number.isSafeInteger(value) ? undefined : "expected a whole number";

/** Like `integerArgument`, but also accepts `Infinity`. */
export const limitArgument: ArgumentCheck = (value) => (value === Infinity ? undefined : integerArgument(value));

/** Any finite number. */
export const numberArgument: ArgumentCheck = (value) => (Number.isFinite(value) ? undefined : "expected a number");

export const functionArgument: ArgumentCheck = (value) =>
  typeof value === "function" ? undefined : "expected a function";

export const bytesArgument: ArgumentCheck = (value) =>
  value instanceof Uint8Array ? undefined : "expected a Uint8Array";

export const signalArgument: ArgumentCheck = (value) =>
  value instanceof AbortSignal ? undefined : "expected an AbortSignal";

export function oneOfArgument(...members: readonly string[]): ArgumentCheck {
  return (value) =>
    members.includes(value as string) ? undefined : `expected one of ${members.map((one) => `"${one}"`).join("|")}`;
}

export function optionalArgument(check: ArgumentCheck): ArgumentCheck {
  return (value) => (value === undefined ? undefined : check(value));
}

/** A dense array. */
export function listArgument(check: ArgumentCheck): ArgumentCheck {
  return (value) => {
    if (!Array.isArray(value)) return "expected an array";
    for (let index = 0; index < value.length; index += 1) {
      const problem = check(value[index]);
      if (problem !== undefined) return `${index}: ${problem}`;
    }
    return undefined;
  };
}

/** An object whose values all pass. */
export function recordArgument(check: ArgumentCheck): ArgumentCheck {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "expected an object";
    for (const [name, each] of Object.entries(value)) {
      const problem = check(each);
      if (problem !== undefined) return `${name}: ${problem}`;
    }
    return undefined;
  };
}

/** An object with these fields. Other fields are allowed. */
export function objectArgument(fields: FieldChecks): ArgumentCheck {
  const names = Object.keys(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "expected an object";
    for (const name of names) {
      const problem = fields[name]?.((value as Readonly<Record<string, unknown>>)[name]);
      if (problem !== undefined) return `${name}: ${problem}`;
    }
    return undefined;
  };
}
