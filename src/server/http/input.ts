/** What comes in with a request, read within its limits and checked against what its route takes. */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import { Refusal } from "./problem.ts";
import type { Route, Shape } from "./route.ts";

const MB = 1024 * 1024;
export const MAX_BODY = MB;
/** As much as an input may have, and what escaping it takes. */
export const MAX_PROMPT_BODY = 10 * MB;
/** What is nested much more deeply can be read, but not written down: that takes the stack. */
const MAX_DEPTH = 100;

export function readParams(route: Route, given: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return check(z.strictObject(route.params ?? {}), given, "path");
}

export function readQuery(route: Route, search: URLSearchParams): Readonly<Record<string, unknown>> {
  const shape = route.query ?? {};
  const given = Object.create(null) as Record<string, unknown>; // so that `__proto__` is a key like any other
  for (const key of new Set(search.keys())) {
    const values = search.getAll(key);
    given[key] = takesMany(shape, key) || values.length > 1 ? values : values[0];
  }
  const optional = Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.optional()]));
  return check(z.strictObject(optional), given, "query");
}

function takesMany(shape: Shape, key: string): boolean {
  return Object.hasOwn(shape, key) && shape[key] instanceof z.ZodArray;
}

/** Nothing is an empty object, where one would do. */
export async function readBody(route: Route, request: IncomingMessage): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const bytes = await collect(request, route.maxBody ?? MAX_BODY);
  if (bytes.length === 0) return check(route.body, {}, "body");
  refuseOtherThanJson(request);
  return check(route.body, parse(bytes), "body");
}

/** Stops to read as soon as it is too much, whatever was claimed. */
async function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RookeryError) throw error;
    throw new Refusal("malformed", "the request ended in the middle of its body");
  }
  return Buffer.concat(chunks);
}

export function tooLarge(limit: number): RookeryError {
  const fix = "put the text in a file of the working folder and name the file";
  return new RookeryError("input_too_large", `the body has more than ${limit / MB} MB: ${fix}`);
}

function refuseOtherThanJson({ headers }: IncomingMessage): void {
  const type = headers["content-type"] ?? "";
  const [, charset] = /;\s*charset="?([^";\s]+)"?/i.exec(type) ?? [];
  const isJson = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  if (!isJson || (charset !== undefined && charset.toLowerCase() !== "utf-8")) {
    throw new Refusal("media_type", "send the body as application/json, in UTF-8");
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new Refusal("media_type", "send the body as it is: no Content-Encoding is read");
  }
}

function parse(bytes: Buffer): unknown {
  const value = parseJson(bytes);
  if (!isDeeper(value, MAX_DEPTH)) return value;
  throw new Refusal("malformed", `the body is nested more than ${MAX_DEPTH} times`, { at: "body" });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw new Refusal("malformed", `the body is not JSON: ${why}`, { at: "body" });
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

function check<T>(schema: z.ZodType<T>, given: unknown, place: string): T {
  const { data, error } = schema.safeParse(given);
  const [first] = error?.issues ?? [];
  if (first === undefined) return data as T;
  const issue = closest(first);
  const at = [place, ...placeOf(issue)].join(".");
  throw new Refusal("malformed", `${at}: ${messageOf(issue)}`, { at });
}

/** Of a union, what is wrong with the alternative that has the least wrong with it. */
function closest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const [best] = [...issue.errors].sort((one, other) => one.length - other.length);
  const [inner] = best ?? [];
  return inner === undefined ? issue : closest({ ...inner, path: [...issue.path, ...inner.path] });
}

function placeOf(issue: z.core.$ZodIssue): string[] {
  const own = issue.path.map(String);
  return issue.code === "unrecognized_keys" ? [...own, ...issue.keys.slice(0, 1)] : own;
}

function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "unrecognized_keys" ? "there is no such field" : issue.message;
}
