/** Renders a question and its answer. Text of the asker cannot leave its lines or imitate our output. */
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import { parseFormFields } from "../../domain/form-fields.ts";
import type { Paint } from "../paint.ts";
import { formatAddress } from "../run/form/ask.ts";
import { formatFieldValue, toLabel } from "../run/form/format-form.ts";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import { renderItems } from "../tui/select-list.ts";
import { formatStatusLine } from "../tui/status-line.ts";
import { clipStyled, wrapStyled } from "../tui/styled-text.ts";
import { type FormPage, isTextPage, pageOf, type QuestionForm } from "./question-form.ts";

export interface FormStyle {
  readonly width: number;
  readonly rows: number;
  readonly paint: Paint;
  /** The line editor after a label. */
  readonly renderInput: (label: string) => LiveRegion;
  /** What Esc does on the first page. Default: "Esc declines". */
  readonly escapeHint?: string | undefined;
}

const MAX_TEXT_LENGTH = 4_000;
const MAX_ANSWER_LENGTH = 500;

export function renderQuestionForm(form: QuestionForm, style: FormStyle): LiveRegion {
  const { width, rows, paint } = style;
  const page = pageOf(form);
  const problem = form.problem === undefined ? [] : [paint("red", `! ${toSingleLine(escapeInvisible(form.problem))}`)];
  const hints = [...problem, paint("dim", formatStatusLine(formHints(form, style), width))];
  const input = isTextPage(form)
    ? style.renderInput(paint("yellow", `${page.type === "choose" ? "other" : "answer"}: `))
    : undefined;
  const room = Math.max(1, rows - 1 - hints.length - (input?.lines.length ?? 0));
  const lines = [...renderHeading(form, page, style), ...renderPage(form, page, style)];
  const above = fitAround(lines, room, page.type === "choose" ? form.selected : undefined);
  const cursor = input?.cursor && { row: input.cursor.row + above.length, column: input.cursor.column };
  return { lines: [...above, ...(input?.lines ?? []), ...hints].map((line) => clipStyled(line, width)), cursor };
}

/** One line for each field of an answered question. */
export function formatAnsweredQuestion(question: Question, answer: QuestionAnswer, paint: Paint): string[] {
  const mark = paint("yellow", "?");
  const message = toSingleLine(escapeInvisible(question.message), MAX_ANSWER_LENGTH);
  if (answer.action !== "accept")
    return [`${mark} ${message} ${paint("dim", answer.action === "decline" ? "— declined" : "— cancelled")}`];
  const values = Object.entries((answer.content ?? {}) as Record<string, unknown>).map(
    ([name, value]) => [name, toSingleLine(formatFieldValue(value), MAX_ANSWER_LENGTH)] as const,
  );
  const [first] = values;
  if (first === undefined) return [`${mark} ${message} ${paint("dim", "— confirmed")}`];
  if (values.length === 1) return [`${mark} ${message} ${paint("cyan", first[1])}`];
  const titles = new Map((parseFormFields(question.schema) ?? []).map(({ name, title }) => [name, title ?? name]));
  return values.map(([name, value]) => `${mark} ${toLabel(titles.get(name) ?? name)} ${paint("cyan", value)}`);
}

function renderHeading(form: QuestionForm, page: FormPage, { width, paint }: FormStyle): string[] {
  const { question, pages, at } = form;
  const { title, about } = describePage(form, page);
  const from = question.from === undefined ? "" : `${paint("bold", toLabel(question.from))} asks: `;
  const place = pages.length > 1 && page.type !== "review" ? paint("dim", ` ${at + 1} of ${pages.length - 1}`) : "";
  const [first = "", ...rest] = splitText(title);
  return [
    ...wrapStyled(
      `${paint("yellow", "?")} ${from}${paint("bold", first)}${rest.length === 0 ? place : ""}`,
      width,
      "  ",
    ),
    ...rest.flatMap((line, index) =>
      wrapStyled(`  ${paint("bold", line)}${index === rest.length - 1 ? place : ""}`, width, "  "),
    ),
    ...splitText(about).flatMap((line) => wrapStyled(paint("dim", `  ${line}`), width, "  ")),
  ];
}

/** The question of the page, once, and what describes it. */
function describePage({ question, pages }: QuestionForm, page: FormPage): { title: string; about: string } {
  const { message } = question;
  if (page.type === "review") return { title: "Send these answers?", about: "" };
  if (!("field" in page)) return { title: message, about: "" };
  const { name, title = "" } = page.field;
  const about = page.type === "choose" ? page.about : (page.field.description ?? "");
  const asked = new Set(message.split("\n").map((line) => line.trim()));
  if (asked.has(about.trim())) return { title: about, about: "" };
  if (asked.has(title.trim())) return { title, about };
  const isOnly = pages.length === 1;
  if (isOnly) return { title: message, about: [title, about].filter((text) => text !== "").join("\n") };
  return { title: title === "" ? name : title, about: [about, message].filter((text) => text !== "").join("\n") };
}

function renderPage(form: QuestionForm, page: FormPage, { width, paint }: FormStyle): string[] {
  switch (page.type) {
    case "choose":
      return renderOptions(form, page, { width, paint });
    case "json":
      return splitText(JSON.stringify(form.question.schema, undefined, 2)).map((line) => paint("dim", `  ${line}`));
    case "review":
      return Array.from(form.content, ([name, value]) => {
        const field = form.pages.find((one) => "field" in one && one.field.name === name);
        const title = field !== undefined && "field" in field ? (field.field.title ?? name) : name;
        return `  ${toLabel(title)} ${paint("cyan", toSingleLine(formatFieldValue(value), MAX_ANSWER_LENGTH))}`;
      });
    case "confirm":
      return form.question.url === undefined
        ? []
        : formatAddress(form.question.url).flatMap((line) => wrapStyled(line, width));
    case "text":
      return [];
  }
}

function renderOptions(
  { selected, marked }: QuestionForm,
  { options, isMultiple, otherName }: Extract<FormPage, { type: "choose" }>,
  { width, paint }: Pick<FormStyle, "width" | "paint">,
): string[] {
  const rows = [
    ...options.map(({ label, detail }) => ({ label: toLabel(label), detail: toLabel(detail) })),
    ...(otherName === undefined ? [] : [{ label: "Other", detail: "type your own answer" }]),
  ];
  const items = rows.map(({ label, detail }, at) => {
    const box = isMultiple && at < options.length ? (marked.has(at) ? "[x] " : "[ ] ") : "";
    return { value: String(at), label: `${at + 1} ${box}${label}`, detail };
  });
  return renderItems(items, { selected, width, paint });
}

function formHints(form: QuestionForm, { escapeHint = "Esc declines" }: FormStyle) {
  const page = pageOf(form);
  const isOptional = "field" in page && !page.field.required;
  const back = form.isTyping || form.at > 0 ? "Esc goes back" : escapeHint;
  const isList = page.type === "choose" && !form.isTyping;
  const isMultiple = isList && page.isMultiple;
  return [
    { text: isMultiple ? "↑↓ and Space, or numbers" : isList ? "↑↓ or a number" : "", priority: 7 },
    { text: ENTER_HINTS[page.type], priority: 9 },
    { text: isOptional && !form.isTyping ? "Tab skips" : "", priority: 6 },
    { text: back, priority: 8 },
  ];
}

const ENTER_HINTS: Record<FormPage["type"], string> = {
  choose: "Enter answers",
  text: "Enter answers",
  json: "Enter sends this line of JSON",
  confirm: "Enter confirms",
  review: "Enter sends",
};

/** Keeps the first lines, or the end with the selected option if there are too many. */
function fitAround(lines: readonly string[], room: number, selected: number | undefined): string[] {
  if (lines.length <= room) return [...lines];
  if (selected === undefined) return [...lines.slice(0, room - 1), "  …"];
  const at = lines.findIndex((line) => line.includes("❯"));
  const start = Math.max(0, Math.min((at === -1 ? 0 : at) - Math.floor(room / 2), lines.length - room));
  return lines.slice(start, start + room);
}

function splitText(text: string): string[] {
  const shown = text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
  const trimmed = shown.trimEnd();
  return trimmed === "" ? [] : trimmed.split("\n").map((line) => escapeInvisible(line));
}
