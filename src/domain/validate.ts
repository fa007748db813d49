/** Checks values that enter through the library's public methods, and says in one line what is wrong with them. */
import type { z } from "zod";
import { RookeryError } from "./errors.ts";

/**
 * Returns the parsed value. Throws `input_invalid` with a message that names the field and what it must be.
 *
 * @param what the value in words, as the start of the message: `the options of openSession`
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = safeParseValue(schema, value, what);
  if (success) return data;
  throw new RookeryError("input_invalid", `${what} cannot be used: ${describeZodError(error)}`, { cause: error });
}

/** A getter or a proxy may throw while the value is read. */
function safeParseValue<T>(schema: z.ZodType<T>, value: unknown, what: string): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    throw new RookeryError("input_invalid", `${what} cannot be read: one of its fields throws`, { cause });
  }
}

/** The first problem, with the path of the field: `permissions: Invalid option: expected one of "ask"|"read"`. */
export function describeZodError({ issues }: z.core.$ZodError): string {
  const [first] = issues;
  if (first === undefined) return "it is invalid";
  const issue = closestAlternative(first);
  const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [...issue.path.map(String), ...keys].join(".");
  const message = issue.code === "unrecognized_keys" ? "there is no such field" : issue.message;
  return path === "" ? message : `${path}: ${message}`;
}

/** For a union, the problem of the alternative that fits best. */
function closestAlternative(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const [best] = [...issue.errors].sort((one, other) => one.length - other.length);
  const [inner] = best ?? [];
  return inner === undefined ? issue : closestAlternative({ ...inner, path: [...issue.path, ...inner.path] });
}
