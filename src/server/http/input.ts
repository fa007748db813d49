/** Reads the path parameters, query and body of a request, and validates them with the route's schemas. */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { RookeryError } from "../../domain/index.ts";
import { findClosestIssue } from "../../domain/validate.ts";
import { HttpRefusal } from "./problem.ts";
import type { HttpRoute, ParamShape } from "./route.ts";

const MB = 1024 * 1024;
export const MAX_BODY = MB;
/** Fits the largest allowed prompt, with room for JSON escapes. */
export const MAX_PROMPT_BODY = 10 * MB;
/** Deeper values can be parsed, but serializing them again overflows the stack. */
const MAX_DEPTH = 100;

export function readParams(route: HttpRoute, raw: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return parseWithSchema(z.strictObject(route.params ?? {}), raw, "path");
}

export function readQuery(route: HttpRoute, search: URLSearchParams): Readonly<Record<string, unknown>> {
  const shape = route.query ?? {};
  const raw = Object.create(null) as Record<string, unknown>; // makes `__proto__` an ordinary key
  for (const key of new Set(search.keys())) {
    const values = search.getAll(key);
    raw[key] = takesMany(shape, key) || values.length > 1 ? values : values[0];
  }
  const optional = Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.optional()]));
  return parseWithSchema(z.strictObject(optional), raw, "query");
}

function takesMany(shape: ParamShape, key: string): boolean {
  return Object.hasOwn(shape, key) && shape[key] instanceof z.ZodArray;
}

/** An empty body counts as `{}`. */
export async function readBody(route: HttpRoute, request: IncomingMessage): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const bytes = await readBytes(request, route.maxBody ?? MAX_BODY);
  if (bytes.length === 0) return parseWithSchema(route.body, {}, "body");
  refuseOtherThanJson(request);
  return parseWithSchema(route.body, parse(bytes), "body");
}

/** Stops reading when the body exceeds the limit, regardless of Content-Length. */
export async function readBytes(
  request: IncomingMessage,
  limit: number,
  toTooLargeError = toBodyTooLargeError,
): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw toTooLargeError(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw toTooLargeError(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RookeryError) throw error;
    throw new HttpRefusal("malformed", "the connection ended before the body was complete: send the request again");
  }
  return Buffer.concat(chunks);
}

export function toBodyTooLargeError(limit: number): RookeryError {
  const fix = "write the text to a file in the working directory and pass its path";
  return new RookeryError("input_too_large", `the body exceeds ${limit / MB} MB: ${fix}`);
}

function refuseOtherThanJson({ headers }: IncomingMessage): void {
  const type = headers["content-type"] ?? "";
  const [, charset] = /;\s*charset="?([^";\s]+)"?/i.exec(type) ?? [];
  const isJson = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  if (!isJson || (charset !== undefined && charset.toLowerCase() !== "utf-8")) {
    throw new HttpRefusal("media_type", "the body has an unsupported Content-Type: send application/json in UTF-8");
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new HttpRefusal("media_type", "Content-Encoding is not supported: send the body uncompressed");
  }
}

function parse(bytes: Buffer): unknown {
  const value = parseJson(bytes);
  if (!isDeeper(value, MAX_DEPTH)) return value;
  throw new HttpRefusal("malformed", `the body is nested more than ${MAX_DEPTH} levels deep: flatten it`, {
    at: "body",
  });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is not valid UTF-8";
    throw new HttpRefusal("malformed", `the body is not JSON: ${why}`, { at: "body" });
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

function parseWithSchema<T>(schema: z.ZodType<T>, raw: unknown, location: string): T {
  const { data, error } = schema.safeParse(raw);
  const [first] = error?.issues ?? [];
  if (first === undefined) return data as T;
  const issue = findClosestIssue(first);
  const at = [location, ...toIssuePath(issue)].join(".");
  throw new HttpRefusal("malformed", `${at}: ${toIssueMessage(issue)}`, { at });
}

function toIssuePath(issue: z.core.$ZodIssue): string[] {
  const own = issue.path.map(String);
  return issue.code === "unrecognized_keys" ? [...own, ...issue.keys.slice(0, 1)] : own;
}

function toIssueMessage(issue: z.core.$ZodIssue): string {
  return issue.code === "unrecognized_keys" ? "unknown field" : issue.message;
}
