/** Parses a `rookery.toml`, and describes the first problem in one line with its location. */
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { messageOf, RookeryError } from "../domain/errors.ts";
import { didYouMean, nearest } from "./nearest.ts";
import { ConfigTable } from "./schema.ts";

/** Throws `config_invalid` with the file and the location in it. */
export function parseConfig(text: string, file: string): ConfigTable {
  const table = parseToml(text, file);
  refusePrototypes(table, file);
  const result = ConfigTable.safeParse(table, { reportInput: true });
  if (result.success) return result.data;
  const { first, others } = describeFirstIssue(result.error.issues);
  const more = others === 0 ? "" : ` (and ${others} more)`;
  throw invalid(`${file}: ${first ?? "not a configuration"}${more}`, result.error);
}

/** With more issues, only the first is described, because each needs a search for similar names. */
const MAX_DESCRIBED_ISSUES = 100;

function describeFirstIssue(issues: readonly z.core.$ZodIssue[]): { readonly first?: string; readonly others: number } {
  const count = issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
  if (count <= MAX_DESCRIBED_ISSUES) {
    const [first, ...rest] = issues.flatMap(describeIssue);
    return { ...(first !== undefined && { first }), others: rest.length };
  }
  const [issue] = issues;
  const [first] =
    issue === undefined
      ? []
      : describeIssue(issue.code === "unrecognized_keys" ? { ...issue, keys: issue.keys.slice(0, 1) } : issue);
  return { ...(first !== undefined && { first }), others: count - 1 };
}

function parseToml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw invalid(`${file}: ${messageOf(error)}`, error);
    const what = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw invalid(`${file}:${error.line}:${error.column}: not TOML: ${what}`, error);
  }
}

/** Deeper tables would overflow the stack of the recursive checks. */
const MAX_DEPTH = 50;

/** zod 4.6 silently drops a key of this name. */
function refusePrototypes(value: unknown, file: string, path: readonly string[] = []): void {
  if (typeof value !== "object" || value === null) return;
  if (path.length > MAX_DEPTH) {
    throw invalid(
      `${file}: ${formatPath(path.slice(0, 3))}…: tables are nested more than ${MAX_DEPTH} deep`,
      undefined,
    );
  }
  for (const [key, inner] of Object.entries(value)) {
    const here = [...path, key];
    if (key === "__proto__") throw invalid(`${file}: ${formatPath(here)}: this name cannot be used`, undefined);
    refusePrototypes(inner, file, here);
  }
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const at = formatPath(issue.path);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => describeUnknownKey(issue.path, key));
  if (issue.code === "invalid_value") {
    const known = issue.values.map(String);
    const guess = typeof issue.input === "string" ? didYouMean(issue.input, known, (value) => `"${value}"`) : "";
    return [`${at}: expected one of ${known.join(", ")}${guess}`];
  }
  if (issue.code === "invalid_type") return [`${at}: expected ${describeExpected(issue)}`];
  if (issue.code === "invalid_union") return describeUnionIssue(issue);
  if (issue.code === "too_small") return [`${at}: ${describeTooSmall(issue)}`];
  if (issue.code === "invalid_key") return [`${at}: a name may contain only letters, digits, "-", "_" and "."`];
  if (issue.code === "invalid_format") return [`${at}: expected an http or https URL`];
  return [`${at}: ${issue.message.replace(/^\w/, (letter) => letter.toLowerCase())}`];
}

function describeTooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === "array" || origin === "string") return "must not be empty";
  return inclusive === false ? `must be more than ${minimum}` : `must be ${minimum} or more`;
}

/**
 * Describes the problem of the alternative that was probably meant, which is the one of the right type. If there is
 * none, lists the alternatives.
 */
function describeUnionIssue({ errors, path }: z.core.$ZodIssueInvalidUnion): string[] {
  const meant = errors.find((issues) => !issues.some((issue) => issue.path.length === 0 && isTypeMismatch(issue)));
  if (meant !== undefined) return meant.flatMap((issue) => describeIssue({ ...issue, path: [...path, ...issue.path] }));
  const forms = errors.flatMap(([issue]) => {
    if (issue?.code === "invalid_type") return [describeExpected(issue)];
    return issue?.code === "invalid_value" ? issue.values.map(String) : [];
  });
  return [`${formatPath(path)}: expected ${forms.join(" or ")}`];
}

function isTypeMismatch({ code }: z.core.$ZodIssue): boolean {
  return code === "invalid_type" || code === "invalid_value";
}

function describeUnknownKey(path: readonly PropertyKey[], key: string): string {
  const known = listKnownKeys(ConfigTable, path);
  const guess = didYouMean(key, known);
  return `unknown key ${formatPath([...path, key])}${guess || `; known here: ${known.join(", ")}`}`;
}

/** Says which key was probably meant by one without a table. Everything at the top of the file is a table. */
export function describeBareKey(key: string): string {
  const tables = listKnownKeys(ConfigTable, []);
  const keys = tables.flatMap((table) => {
    const own = listKnownKeys(ConfigTable, [table]).map((inner) => [inner, `${table}.${inner}`] as const);
    const named = listKnownKeys(ConfigTable, [table, "NAME"]).map(
      (inner) => [inner, `${table}.NAME.${inner}`] as const,
    );
    return own.length > 0 ? own : named;
  });
  if (tables.includes(key)) {
    const example = keys.find(([, path]) => path.startsWith(`${key}.`))?.[1] ?? `${key}.KEY`;
    return `${key} is a table; name a key in it, such as ${example}`;
  }
  const meant = nearest(key, [...keys.map(([inner]) => inner), ...tables]);
  const path = keys.find(([inner]) => inner === meant)?.[1] ?? meant;
  return `unknown key ${formatPath([key])}${path === undefined ? `; known tables: ${tables.join(", ")}` : ` (did you mean ${path}?)`}`;
}

function describeExpected(issue: z.core.$ZodIssueInvalidType): string {
  const typeNames: Record<string, string> = {
    object: "a table",
    record: "a table",
    array: "a list",
    int: "a whole number",
  };
  return `${typeNames[issue.expected] ?? `a ${issue.expected}`}${issue.input === undefined ? ", but it is missing" : ""}`;
}

/** Returns the keys of the schema at a path. */
function listKnownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional) return listKnownKeys(schema.unwrap(), path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodRecord) return key === undefined ? [] : listKnownKeys(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return key === undefined ? [] : listKnownKeys(schema.element, rest);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => listKnownKeys(option, path));
  if (!(schema instanceof z.ZodObject)) return [];
  const shape = schema.shape as Record<string, z.core.$ZodType>;
  if (key === undefined) return Object.keys(shape);
  const inner = Object.hasOwn(shape, key) ? shape[String(key)] : undefined;
  return inner === undefined ? [] : listKnownKeys(inner, rest);
}

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (/^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(String(key)))).join(".");
  return text === "" ? "the file" : text;
}

function invalid(message: string, cause: unknown): RookeryError {
  return new RookeryError("config_invalid", message, { cause });
}
