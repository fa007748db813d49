/** Parses what a person types to answer a request, and suggests answers. */
import type { WaitingRequest } from "../../session/waiting-requests.ts";
import type { Answer } from "../../session/method-types.ts";
import type { OptionValues } from "../command.ts";
import { usageError } from "../exit.ts";
import { textOption } from "../options.ts";
import { type FormField, parseFormFields } from "../../domain/form-fields.ts";
import { parseFieldInput } from "../run/form/parse-input.ts";
import { toSingleLine } from "../sanitize.ts";

/** The part of a request that decides which answers it takes. */
export interface AnswerableRequest extends Pick<WaitingRequest, "kind" | "schema" | "url"> {
  /** The prefix of the command that can always be allowed. */
  readonly prefix?: string | undefined;
}

/** Choices that are suggested. All of them are accepted. */
const MAX_SUGGESTED = 9;

/** Returns what can be typed, the most likely first. Each is one word or quoted for a shell. */
export function suggestAnswers({ kind, schema, url, prefix }: AnswerableRequest): string[] {
  if (kind === "permission") return ["allow", prefix === undefined ? "always" : `always --prefix "${prefix}"`, "deny"]; // it has plain words only
  const fields = url === undefined && schema !== undefined ? parseFormFields(schema) : [];
  if (fields?.length === 0) return ["accept", "decline"];
  const [field] = fields ?? [];
  if (field === undefined || fields?.length !== 1) return [`accept --content '${contentExample(fields)}'`, "decline"];
  return [...suggestValues(field), "decline"];
}

function suggestValues({ kind }: FormField): string[] {
  switch (kind.type) {
    case "choice":
    case "choices":
      return kind.choices.slice(0, MAX_SUGGESTED).map((_, index) => String(index + 1));
    case "boolean":
      return ["yes", "no"];
    case "number":
    case "integer":
      return ["NUMBER"];
    case "text":
      return ['"TEXT"'];
  }
}

/** Names of fields are written by others, so those that a shell could take for something else are left out. */
function contentExample(fields: readonly FormField[] = []): string {
  const names = fields.map(({ name }) => name).filter((name) => /^\w{1,40}$/.test(name));
  return `{${names.map((name) => `"${name}":…`).join(",") || "…"}}`;
}

/** `request`: undefined if it is not known; then only the words are accepted. Throws `usage`. */
export function parseAnswerText(text: string, options: OptionValues, request: AnswerableRequest | undefined): Answer {
  const message = textOption(options, "message");
  const content = textOption(options, "content");
  const prefix = textOption(options, "prefix");
  const word = text.trim().toLowerCase();
  if (message !== undefined && !DENIALS.has(word)) throw usageError("--message is only valid with deny");
  if (prefix !== undefined && word !== "always") throw usageError("--prefix is only valid with always");
  if (content !== undefined && word !== "accept") throw usageError("--content is only valid with accept");
  if (word === "accept") return { action: "accept", ...(content !== undefined && { content: parseContent(content) }) };
  if (word === "decline" || word === "cancel") return { action: word };
  if (request?.kind === "question") return { action: "accept", content: parseFieldText(text, request) };
  if (word === "always") return { decision: "allow", scope: "session", ...(prefix !== undefined && { prefix }) };
  if (DENIALS.has(word)) return { decision: "deny", ...(message !== undefined && { message }) };
  if (PERMISSIONS.has(word)) return { decision: "allow", scope: "once" };
  const words = request === undefined ? "allow, always, deny, accept, decline or cancel" : "allow, always or deny";
  throw usageError(`unknown answer "${toSingleLine(text, 60)}"; use ${words}`);
}

const PERMISSIONS: ReadonlySet<string> = new Set(["allow", "yes", "y"]);
const DENIALS: ReadonlySet<string> = new Set(["deny", "no", "n"]);

/** The value of the only field of a form: a choice by its number, value or title, or any text. */
function parseFieldText(text: string, { schema, url }: AnswerableRequest): Record<string, unknown> {
  const fields = url === undefined && schema !== undefined ? parseFormFields(schema) : [];
  const [field] = fields ?? [];
  const suggested = suggestAnswers({ kind: "question", schema, url });
  if (field === undefined || fields?.length !== 1)
    throw usageError(`unknown answer "${toSingleLine(text, 60)}"; use ${suggested.join(" or ")}`);
  const parsed = parseFieldInput(field, text);
  if ("problem" in parsed) throw usageError(`the answer is not valid: ${toSingleLine(parsed.problem, 300)}`);
  return "value" in parsed ? Object.fromEntries([[field.name, parsed.value]]) : {};
}

/** Throws `usage` for a `--content` that is not JSON, before a request is looked up. */
export function checkContentOption(options: OptionValues): void {
  const content = textOption(options, "content");
  if (content !== undefined) parseContent(content);
}

function parseContent(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError('--content must be JSON, for example --content \'{"name":"main"}\'');
  }
}
