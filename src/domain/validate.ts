/** Validates arguments of the library's public methods, and describes a problem in one line. */
import type { z } from "zod";
import { RookeryError } from "./errors.ts";

/**
 * Returns the parsed value. Throws `input_invalid` with a message that names the field and the expected value.
 *
 * @param what names the value at the start of the message, such as `the options of openSession`
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = safeParseValue(schema, value, what);
  if (success) return data;
  throw new RookeryError("input_invalid", `${what} is invalid: ${describeZodError(error)}`, { cause: error });
}

/** Reading a getter or a proxy may throw. */
function safeParseValue<T>(schema: z.ZodType<T>, value: unknown, what: string): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    throw new RookeryError("input_invalid", `${what} cannot be read: one of its fields throws an error`, { cause });
  }
}

/**
 * Describes the first problem, with the path of the field: `permissions: Invalid option: expected one of
 * "ask"|"read"`.
 */
export function describeZodError({ issues }: z.core.$ZodError): string {
  const [first] = issues;
  if (first === undefined) return "it is invalid";
  const issue = findClosestIssue(first);
  const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [...issue.path.map(String), ...keys].join(".");
  const message = issue.code === "unrecognized_keys" ? "unknown field" : issue.message;
  return path === "" ? message : `${path}: ${message}`;
}

/** For a union, returns the problem of the closest alternative of a union: one for values of this type, with the fewest problems. */
export function findClosestIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const [best] = [...issue.errors].sort(
    (one, other) => Number(isOtherType(one)) - Number(isOtherType(other)) || one.length - other.length,
  );
  const [inner] = best ?? [];
  return inner === undefined ? issue : findClosestIssue({ ...inner, path: [...issue.path, ...inner.path] });
}

/** True if the alternative is for values of another type. */
function isOtherType(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.some(({ code, path }) => code === "invalid_type" && path.length === 0);
}
