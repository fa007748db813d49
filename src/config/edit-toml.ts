/** Changes one value in the text of a TOML file and keeps everything else: comments, order and formatting. */
import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { RookeryError } from "../domain/errors.ts";

export type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue };

/** A value longer than this is not edited. */
const MAX_VALUE_LINES = 1_000;

/** Splits `agents.mine.model` and `prices."a/b".input`. Throws `usage` for an invalid path. */
export function parseKeyPath(text: string): string[] {
  const parts = text.match(/"(?:[^"\\]|\\.)*"|[^."\s]+/g) ?? [];
  if (parts.length === 0 || parts.join(".") !== text) {
    throw new RookeryError("usage", `"${text}" is not a key: write it as table.key, such as defaults.agent`);
  }
  return parts.map((part) => (part.startsWith('"') ? (JSON.parse(part) as string) : part));
}

/** Reads a value as typed: TOML if it is valid TOML, and otherwise the text itself. */
export function parseTomlValue(text: string): TomlValue {
  try {
    const { value, ...others } = parse(`value = ${text}`) as { value: TomlValue };
    if (Object.keys(others).length === 0) return value;
  } catch {
    // plain text
  }
  return text;
}

/** Formats a value on one line. */
export function formatTomlValue(value: TomlValue): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map((each) => formatTomlValue(each as TomlValue)).join(", ")}]`;
  const pairs = Object.entries(value).map(([key, inner]) => `${formatKey(key)} = ${formatTomlValue(inner)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

/** Returns the value at a path, or undefined. Throws the error of the parser. */
export function readTomlValue(text: string, path: readonly string[]): unknown {
  return valueAt(parse(text), path);
}

/** Throws `config_invalid` if the file has a form that this editor cannot change, such as an inline table. */
export function setTomlValue(text: string, path: readonly string[], value: TomlValue): string {
  const lines = text.split("\n");
  const statements = listStatements(lines);
  const known = statements.find(({ key }) => key !== undefined && isDeepStrictEqual(key, path));
  const assignment = `${formatKey(path.at(-1) ?? "")} = ${formatTomlValue(value)}`;
  const changed =
    known === undefined ? insertValue(lines, statements, path, assignment) : replaceValue(lines, known, value);
  return requireValue(changed.join("\n"), path, value);
}

/** Removes a value, or a table with everything in it. Returns undefined if there is none. */
export function removeTomlValue(text: string, path: readonly string[]): string | undefined {
  if (readTomlValue(text, path) === undefined) return undefined;
  const lines = text.split("\n");
  const isInside = (name: readonly string[]) => isDeepStrictEqual(name.slice(0, path.length), path);
  const removed = listStatements(lines).filter(({ key, table }) => isInside(key ?? table));
  const gone = new Set(removed.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at)));
  return requireValue(lines.filter((_, at) => !gone.has(at)).join("\n"), path, undefined);
}

/** A table header, or an assignment with its whole path. */
interface Statement {
  readonly table: readonly string[];
  readonly key: readonly string[] | undefined;
  readonly from: number;
  /** The line after its last one. */
  readonly to: number;
}

/** Each part of the key ends at a dot that can be no part of it, so a line without a match takes linear time. */
const ASSIGNED_KEY = /^((?:"(?:[^"\\]|\\.)*"|[\w-]+)(?:\s*\.\s*(?:"(?:[^"\\]|\\.)*"|[\w-]+))*)\s*=/;

/** Removes the spaces around the dots of a key. */
function removeSpaces(key: string): string {
  const parts = key.split(".").map((part) => part.trim());
  return parts.join(".");
}

function listStatements(lines: readonly string[]): Statement[] {
  const statements: Statement[] = [];
  let table: readonly string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = (lines[at] ?? "").trim();
    const header = /^\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    const name = ASSIGNED_KEY.exec(line)?.[1];
    if (header !== undefined) {
      table = parseKeyPath(removeSpaces(header));
      statements.push({ table, key: undefined, from: at, to: at + 1 });
    } else if (name !== undefined) {
      const to = endOfValue(lines, at);
      const key = [...table, ...parseKeyPath(removeSpaces(name))];
      statements.push({ table, key, from: at, to });
      at = to;
      continue;
    }
    at += 1;
  }
  return statements;
}

/** An array or a text may have several lines: the value ends with the first line that completes it. */
function endOfValue(lines: readonly string[], from: number): number {
  for (let to = from + 1; to <= Math.min(lines.length, from + MAX_VALUE_LINES); to += 1) {
    if (isToml(lines.slice(from, to).join("\n"))) return to;
  }
  return from + 1;
}

/** Keeps the indentation, the key as written, and a comment at the end of the line. */
function replaceValue(lines: readonly string[], { from, to }: Statement, value: TomlValue): string[] {
  const line = lines[from] ?? "";
  const start = /^(?:"(?:[^"\\]|\\.)*"|[^"=])+=\s*/.exec(line)?.[0] ?? "";
  const comment = to === from + 1 ? findComment(line) : "";
  return [...lines.slice(0, from), `${start}${formatTomlValue(value)}${comment}`, ...lines.slice(to)];
}

function findComment(line: string): string {
  for (let at = line.indexOf("#"); at !== -1; at = line.indexOf("#", at + 1)) {
    const before = line.slice(0, at);
    if (isToml(before)) return before.slice(before.trimEnd().length) + line.slice(at);
  }
  return "";
}

/** Adds the value at the end of its table, or a new table at the end of the file. */
function insertValue(
  lines: readonly string[],
  statements: readonly Statement[],
  path: readonly string[],
  assignment: string,
): string[] {
  const table = path.slice(0, -1);
  const last = statements.findLast((statement) => isDeepStrictEqual(statement.table, table));
  if (last !== undefined) return [...lines.slice(0, last.to), assignment, ...lines.slice(last.to)];
  const end = lines.findLastIndex((line) => line.trim() !== "") + 1;
  const before = end === 0 ? [] : [...lines.slice(0, end), ""];
  return [...before, `[${table.map(formatKey).join(".")}]`, assignment, ""];
}

function requireValue(text: string, path: readonly string[], wanted: TomlValue | undefined): string {
  if (isToml(text) && isDeepStrictEqual(toPlain(readTomlValue(text, path)), toPlain(wanted))) return text;
  throw new RookeryError(
    "config_invalid",
    `${path.join(".")} is written in a form that cannot be changed here; change it by hand: rookery config edit`,
  );
}

function toPlain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    const isTable = typeof inner === "object" && inner !== null && Object.hasOwn(inner, key);
    return isTable ? (inner as Record<string, unknown>)[key] : undefined;
  }, value);
}

function formatKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
