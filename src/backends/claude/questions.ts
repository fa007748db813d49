/** Converts Claude Code's questions to a form, and the user's answers to the format it expects. */
import type { Question, QuestionAnswer } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { trimBothEndsOf } from "../../stdx/index.ts";
import { asRecord, recordsAt, textAt } from "./record-fields.ts";

export interface UserQuestions {
  readonly question: Question;
  /** Returns the input of `AskUserQuestion` with the answers, keyed by question text (2.1.325). */
  withAnswers(content: unknown): JsonRecord;
}

interface Field {
  readonly name: string;
  readonly text: string;
  readonly isMultiple: boolean;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

/** Returns undefined if the input has no readable question. */
export function toUserQuestions(input: JsonRecord): UserQuestions | undefined {
  const fields = toFields(recordsAt(input, "questions"));
  if (fields.length === 0) return undefined;
  const properties = Object.fromEntries(fields.map((field) => [field.name, toProperty(field)]));
  const schema = { type: "object", properties, required: fields.map(({ name }) => name) };
  return {
    question: { message: fields.map(({ text }) => text).join("\n"), schema },
    withAnswers: (content) => ({ ...input, answers: toAnswers(fields, asRecord(content) ?? {}) }),
  };
}

/** Converts an elicitation of an MCP server, which Claude Code forwards. */
export function toElicitationQuestion(request: JsonRecord): Question {
  const url = textAt(request, "url");
  const schema = asRecord(request["requested_schema"]);
  const from = textAt(request, "mcp_server_name");
  return {
    message: textAt(request, "message") ?? "",
    ...(from !== undefined && { from }),
    ...(url !== undefined && { url }),
    ...(schema !== undefined && { schema }),
  };
}

export function toClaudeElicitationResult({ action, content }: QuestionAnswer): JsonRecord {
  return { action, ...(action === "accept" && content !== undefined && { content }) };
}

function toFields(questions: readonly JsonRecord[]): Field[] {
  const taken = new Set<string>();
  return questions.flatMap((asked, at) => {
    const text = textAt(asked, "question");
    if (text === undefined) return [];
    const slug = (textAt(asked, "header") ?? "").toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
    const wanted = questions.length === 1 ? "answer" : trimBothEndsOf(slug, "_");
    const name = wanted === "" || taken.has(wanted) ? `answer_${at + 1}` : wanted;
    taken.add(name);
    const options = recordsAt(asked, "options").flatMap((option) => {
      const label = textAt(option, "label");
      return label === undefined ? [] : [{ label, description: textAt(option, "description") ?? "" }];
    });
    return [{ name, text, isMultiple: asked["multiSelect"] === true, options }];
  });
}

function toProperty({ text, isMultiple, options }: Field): JsonRecord {
  const described = options.filter(({ description, label }) => description !== "" && description !== label);
  const description = described.map((option) => `${option.label}: ${option.description}`).join("\n");
  const words = { title: text, ...(description !== "" && { description }) };
  if (options.length === 0) return { type: "string", ...words };
  const anyOf = [...options.map(({ label }) => ({ const: label, title: label })), { type: "string" }]; // as in Claude Code
  return isMultiple
    ? { type: "array", ...words, items: { type: "string", anyOf }, minItems: 1 }
    : { type: "string", ...words, anyOf };
}

function toAnswers(fields: readonly Field[], content: JsonRecord): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name, text }) => {
      const answer = content[name];
      if (typeof answer === "string") return [[text, answer]];
      return Array.isArray(answer) ? [[text, answer.filter((entry) => typeof entry === "string").join(", ")]] : [];
    }),
  );
}
