/** Masks secrets in configuration before it is shown. Names of variables are not secret, so they stay. */
import { splitAssignment } from "../stdx/split-assignment.ts";

const MASK = "…";
const SECRET_NAME = /key|token|secret|passw|auth|credential|bearer/i;
/** Keys that match, but hold the name of a variable, a file or a method. */
const NOT_SECRET_KEY = /(_env|_file|_path)$|^auth$/;
/** Unmistakable keys of providers and code hosts, anywhere in a text. */
const KNOWN_KEY =
  /\b(?:sk-[\w-]{16,}|AIza[\w-]{20,}|gsk_\w{16,}|xai-\w{16,}|hf_\w{16,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{12,})/g;
/** The start of an assignment in a shell command, such as `API_KEY=abc`. A variable as the value is not a secret. */
const ASSIGNMENT = /\b(\w+)=(?!["']?\$)/g;
const ASSIGNED_VALUE = /"[^"]*"|'[^']*'|[^\s;&|]+/y;
const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** Masks user info and the query, which often contain keys. */
export function maskUrl(url: string): string {
  return url.replace(/^([\w+.-]+:\/\/)[^/?#]*@/, `$1${MASK}@`).replace(/[?#][^]*/, `?${MASK}`);
}

export function maskText(text: string): string {
  return maskAssignments(text).replaceAll(KNOWN_KEY, MASK);
}

/** Takes linear time, even for a long word that looks like many names. */
function maskAssignments(text: string): string {
  let masked = "";
  let end = 0;
  for (const { 0: assignment, 1: name = "", index } of text.matchAll(ASSIGNMENT)) {
    if (index < end || !SECRET_VARIABLE.test(name)) continue;
    ASSIGNED_VALUE.lastIndex = index + assignment.length;
    if (!ASSIGNED_VALUE.test(text)) continue;
    masked += `${text.slice(end, index)}${name}=${MASK}`;
    end = ASSIGNED_VALUE.lastIndex;
  }
  return masked + text.slice(end);
}

/** Masks words of a command. The first one is the program. */
export function maskWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    if (isSecretWord(words, index)) return maskSecretWord(word);
    return /^https?:\/\//.test(word) ? maskUrl(word) : maskText(word);
  });
}

/** Masks a value of a configuration file by its key. */
export function maskValue(key: string, value: unknown): unknown {
  if (typeof value === "string") return maskString(key, value);
  if (Array.isArray(value)) return maskList(key, value as readonly unknown[]);
  if (typeof value !== "object" || value === null) return value;
  const isSecretTable = key === "env" || key === "headers";
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [
      name,
      isSecretTable && typeof inner === "string" ? maskExceptVariables(inner) : maskValue(name, inner),
    ]),
  );
}

function maskString(key: string, text: string): string {
  if (SECRET_NAME.test(key) && !NOT_SECRET_KEY.test(key)) return maskExceptVariables(text);
  return /url$/i.test(key) ? maskUrl(text) : maskText(text);
}

function maskList(key: string, list: readonly unknown[]): unknown[] {
  if (!list.every((item) => typeof item === "string")) return list.map((item) => maskValue(key, item));
  if (key === "args") return maskWords(["", ...list]).slice(1);
  return key.endsWith("command") ? maskWords(list) : list.map(maskText);
}

function maskExceptVariables(text: string): string {
  return isReferenceOnly(text) ? text : MASK;
}

/** True for a text that contains only variables and no value of its own: `${TOKEN}`, `Bearer ${TOKEN}`. */
export function isReferenceOnly(text: string): boolean {
  const rest = text.replaceAll(/\$\{\w+\}|\$\w+/g, "");
  return rest !== text && /^(?:bearer|basic|token)?$/i.test(rest.trim());
}

/** True for `--api-key=…`, the word after `--api-key`, and `API_KEY=…`. */
function isSecretWord(words: readonly string[], index: number): boolean {
  const word = words[index] ?? "";
  if (index === 0 || /^\$(\w+|\{\w+\})$/.test(word)) return false;
  const [name, value] = splitAssignment(word);
  if (value !== undefined) return SECRET_NAME.test(name);
  const before = words[index - 1] ?? "";
  return !word.startsWith("-") && /^--?\w/.test(before) && !before.includes("=") && SECRET_NAME.test(before);
}

function maskSecretWord(word: string): string {
  const [name, value] = splitAssignment(word);
  return value === undefined ? MASK : `${name}=${MASK}`;
}
