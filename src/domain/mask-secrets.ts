/** Masks secrets in configuration before it is shown. Names of variables are not secret, so they stay. */
import { splitAssignment } from "../stdx/split-assignment.ts";
import { isCredential } from "./credentials.ts";

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

/** A header with a credential, such as `Authorization: Bearer abc`, also in JSON. */
const SECRET_HEADER =
  /\b(?:authorization|[\w-]{0,40}(?:api-?key|token|secret|password))["']?[ \t]{0,9}:[ \t]{0,9}["']?([^\r\n"']*)/gi;
const BEARER = /\bbearer\s{1,9}[\w.~+/=-]{8,}/i;
const ADDRESS = /\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s"'`]*/gi;

/**
 * True for a text with an unmistakable key, a header with a credential, or an address with a password or key. Variables
 * in their place are none. Other secrets look like any word.
 */
export function containsSecret(text: string): boolean {
  return (
    text.search(KNOWN_KEY) !== -1 ||
    isCredential("", text) ||
    BEARER.test(text) ||
    Array.from(text.matchAll(SECRET_HEADER)).some(([, value = ""]) => value.trim() !== "" && !isReferenceOnly(value)) ||
    Array.from(text.matchAll(ADDRESS)).some(([address]) => isSecretAddress(address))
  );
}

/** A password, or for HTTP any user; and parameters whose name suggests a credential. */
function isSecretAddress(address: string): boolean {
  const [place = "", ...parameters] = address.split(/[?#&;]/);
  const user = /^[^/]*\/\/([^/]*)@/.exec(place)?.[1] ?? "";
  const [name, password] = splitAt(user, ":");
  const isSecretUser = password === "" ? /^http/i.test(place) && isOwnValue(name) : isOwnValue(password);
  return isSecretUser || parameters.some((parameter) => isSecretParameter(...splitAt(parameter, "=")));
}

function isSecretParameter(name: string, value: string): boolean {
  const decoded = name.replaceAll(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return isOwnValue(value) && (/^sig(?:nature)?$/i.test(decoded) || isCredential(decoded, value));
}

function isOwnValue(text: string): boolean {
  return text !== "" && !isReferenceOnly(text);
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
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
