/** A question of an agent or a server as pages to answer: lists and texts. Pure: keys in, next form or answer out. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import { type FormField, parseFormFields } from "../../domain/form-fields.ts";
import { parseFieldInput } from "../run/form/parse-input.ts";

export interface FormOption {
  readonly value: unknown;
  readonly label: string;
  readonly detail: string;
}

export type FormPage =
  | {
      readonly type: "choose";
      readonly field: FormField;
      /** The description of the field without what describes the options. */
      readonly about: string;
      readonly options: readonly FormOption[];
      readonly isMultiple: boolean;
      /** The field for an answer in the person's own words. Undefined: only options are answers. */
      readonly otherName: string | undefined;
    }
  | { readonly type: "text"; readonly field: FormField }
  /** For a schema that is not a simple form. */
  | { readonly type: "json" }
  /** Nothing to fill in: a confirmation, or a page to open. */
  | { readonly type: "confirm" }
  /** Shows all values again before they are sent. */
  | { readonly type: "review" };

export interface QuestionForm {
  readonly question: Question;
  readonly pages: readonly FormPage[];
  readonly at: number;
  readonly content: ReadonlyMap<string, unknown>;
  readonly selected: number;
  /** Options that are chosen on a page with several answers. */
  readonly marked: ReadonlySet<number>;
  /** The person types an answer, in place of choosing one. */
  readonly isTyping: boolean;
  /** Letters that the person typed to move to an option. */
  readonly typed: string;
  /** What is wrong with the last input. */
  readonly problem: string | undefined;
}

export type FormStep =
  | { readonly form: QuestionForm }
  | { readonly answer: QuestionAnswer }
  /** The key belongs to the line editor. */
  | { readonly form: QuestionForm; readonly isEdit: true };

export function openQuestionForm(question: Question): QuestionForm {
  const pages = toPages(question);
  const form = { question, pages, content: new Map<string, unknown>(), isTyping: false, typed: "", problem: undefined };
  return enterPage({ ...form, at: 0, selected: 0, marked: new Set() }, 0);
}

export function pageOf({ pages, at }: QuestionForm): FormPage {
  return pages[at] ?? { type: "confirm" };
}

/** Whether the line editor is shown. */
export function isTextPage(form: QuestionForm): boolean {
  const { type } = pageOf(form);
  return form.isTyping || type === "text" || type === "json";
}

export function handleFormKey(form: QuestionForm, data: string): FormStep {
  if (matchesKey(data, "escape")) return goBack(form);
  const page = pageOf(form);
  if (isTextPage(form)) {
    if (matchesKey(data, "tab") && page.type === "text" && !page.field.required) return skipPage(form);
    return { form, isEdit: true };
  }
  if (page.type === "choose") return handleChoiceKey(form, page, data);
  return matchesKey(data, "enter") ? nextPage(form) : { form };
}

/** Call it with the text of the line editor after Enter. */
export function handleFormText(form: QuestionForm, text: string): FormStep {
  const page = pageOf(form);
  if (page.type === "json") {
    try {
      return { answer: { action: "accept", content: JSON.parse(text) as unknown } };
    } catch {
      return { form: { ...form, problem: "not valid JSON" } };
    }
  }
  if (page.type === "choose") {
    const typed = text.trim();
    if (typed === "" || page.otherName === undefined) return { form: { ...form, isTyping: false } };
    const value = page.isMultiple ? [...chosenValues(form, page), typed] : typed;
    return nextPage(withValue(form, page.otherName, value));
  }
  if (page.type !== "text") return { form };
  const parsed = parseFieldInput(page.field, text);
  if ("problem" in parsed) return { form: { ...form, problem: parsed.problem } };
  return "omitted" in parsed ? skipPage(form) : nextPage(withValue(form, page.field.name, parsed.value));
}

type ChoosePage = Extract<FormPage, { type: "choose" }>;

/** Digits and Enter choose. Letters start an answer in the person's own words, or move to an option. */
function handleChoiceKey(form: QuestionForm, page: ChoosePage, data: string): FormStep {
  const rows = page.options.length + (page.otherName === undefined ? 0 : 1);
  const move = (by: number): FormStep => ({
    form: { ...form, typed: "", problem: undefined, selected: (form.selected + by + rows) % rows },
  });
  if (matchesKey(data, "up")) return move(-1);
  if (matchesKey(data, "down")) return move(1);
  if (matchesKey(data, "tab")) return page.field.required ? { form } : skipPage(form);
  if (matchesKey(data, "enter"))
    return form.typed !== "" && form.problem !== undefined ? { form } : acceptRow(form, page, form.selected);
  if (matchesKey(data, "space") && (page.isMultiple || form.typed === ""))
    return page.isMultiple ? toggle(form, page, form.selected) : { form };
  if (/^[1-9]$/.test(data) && Number(data) <= rows && form.typed === "") {
    const at = Number(data) - 1;
    return page.isMultiple ? toggle(form, page, at) : acceptRow({ ...form, selected: at }, page, at);
  }
  if (!/^[^\p{Cc}]+$/u.test(data)) return { form };
  if (page.otherName !== undefined) return { form: startTyping(form, page), isEdit: true };
  return { form: moveToTyped(form, page, form.typed + data) };
}

const MAX_TYPED_LENGTH = 200;

/** Text that starts no option is a problem, which Enter does not answer over. */
function moveToTyped(form: QuestionForm, { options }: ChoosePage, typed: string): QuestionForm {
  const found = options.findIndex(({ label }) => label.toLowerCase().startsWith(typed.toLowerCase()));
  if (found !== -1) return { ...form, typed, selected: found, problem: undefined };
  return {
    ...form,
    typed: typed.slice(0, MAX_TYPED_LENGTH),
    problem: "the answer must be one of these options: choose one with ↑↓",
  };
}

function acceptRow(form: QuestionForm, page: ChoosePage, at: number): FormStep {
  const option = page.options[at];
  if (option === undefined) return { form: startTyping(form, page) };
  if (!page.isMultiple) return nextPage(withValue(form, page.field.name, option.value));
  const isAnyRequired = page.field.required || leastOf(page) > 0;
  const marked = form.marked.size === 0 && isAnyRequired ? new Set([at]) : form.marked;
  const values = chosenValues({ ...form, marked }, page);
  const { least = 0, most = Infinity } = page.field.kind.type === "choices" ? page.field.kind : {};
  if (values.length < (least ?? 0)) return { form: { ...form, problem: `choose at least ${least}` } };
  if (values.length > (most ?? Infinity)) return { form: { ...form, problem: `choose at most ${most}` } };
  return nextPage(withValue(form, page.field.name, values));
}

function leastOf({ field: { kind } }: ChoosePage): number {
  return kind.type === "choices" ? (kind.least ?? 0) : 0;
}

function toggle(form: QuestionForm, page: ChoosePage, at: number): FormStep {
  if (page.options[at] === undefined) return { form: startTyping(form, page) };
  const marked = new Set(form.marked);
  if (!marked.delete(at)) marked.add(at);
  return { form: { ...form, marked, selected: at, typed: "", problem: undefined } };
}

function startTyping(form: QuestionForm, page: ChoosePage): QuestionForm {
  return { ...form, selected: page.options.length, isTyping: true, problem: undefined };
}

function chosenValues({ marked }: QuestionForm, { options }: ChoosePage): unknown[] {
  return options.filter((_, at) => marked.has(at)).map(({ value }) => value);
}

function withValue(form: QuestionForm, name: string, value: unknown): QuestionForm {
  return { ...form, content: new Map([...form.content, [name, value]]) };
}

function skipPage(form: QuestionForm): FormStep {
  const page = pageOf(form);
  const content = new Map(form.content);
  if ("field" in page) content.delete(page.field.name);
  return nextPage({ ...form, content });
}

function nextPage(form: QuestionForm): FormStep {
  if (form.at + 1 < form.pages.length) return { form: enterPage(form, form.at + 1) };
  const { type } = pageOf(form);
  if (type === "confirm" && form.question.url !== undefined) return { answer: { action: "accept" } };
  return { answer: { action: "accept", content: Object.fromEntries(form.content) } };
}

/** Leaves the text, then the page, then the form. */
function goBack(form: QuestionForm): FormStep {
  if (form.isTyping) return { form: { ...form, isTyping: false } };
  if (form.at > 0) return { form: enterPage(form, form.at - 1) };
  return { answer: { action: "decline" } };
}

function enterPage(form: QuestionForm, at: number): QuestionForm {
  const page = form.pages[at];
  const base = { ...form, at, selected: 0, marked: new Set<number>(), isTyping: false, typed: "", problem: undefined };
  if (page?.type !== "choose") return base;
  const given = form.content.get(page.field.name) ?? page.field.default;
  const isGiven = ({ value }: FormOption): boolean => (Array.isArray(given) ? given.includes(value) : value === given);
  const marked = new Set(page.options.flatMap((option, index) => (isGiven(option) ? [index] : [])));
  const [selected = 0] = marked;
  return { ...base, selected, marked };
}

function toPages({ url, schema }: Question): FormPage[] {
  if (url !== undefined) return [{ type: "confirm" }];
  const fields = schema === undefined ? [] : parseFormFields(schema);
  if (fields === undefined) return [{ type: "json" }];
  if (fields.length === 0) return [{ type: "confirm" }];
  const names = new Map(fields.map((field) => [field.name, field]));
  const pages = fields.flatMap((field): FormPage[] => {
    if (isOtherField(field, names.get(field.name.replace(/_other$/, "")))) return [];
    const other = names.get(`${field.name}_other`);
    return [toPage(field, other !== undefined && isOtherField(other, field) ? other.name : undefined)];
  });
  return pages.length === 1 ? pages : [...pages, { type: "review" }];
}

/** Codex adds an optional field for a free-text answer. */
function isOtherField({ name, kind, required }: FormField, choice: FormField | undefined): boolean {
  return name === `${choice?.name}_other` && kind.type === "text" && !required && choice?.kind.type === "choice";
}

function toPage(field: FormField, otherName: string | undefined): FormPage {
  const { kind } = field;
  if (kind.type === "boolean") {
    const options = [true, false].map((value) => ({ value, label: value ? "Yes" : "No", detail: "" }));
    return { type: "choose", field, about: field.description ?? "", options, isMultiple: false, otherName: undefined };
  }
  if (kind.type !== "choice" && kind.type !== "choices") return { type: "text", field };
  const lines = (field.description ?? "").split("\n");
  const details = new Map<string, string>();
  const about = lines.filter((line) => {
    const choice = kind.choices.find(({ value }) => line.startsWith(`${value}: `));
    if (choice !== undefined) details.set(choice.value, line.slice(choice.value.length + 2));
    return choice === undefined;
  });
  const options = kind.choices.map(({ value, title }) => {
    const isDescribed = title.startsWith(`${value}: `);
    return {
      value,
      label: isDescribed ? value : title,
      detail: isDescribed ? title.slice(value.length + 2) : (details.get(value) ?? ""),
    };
  });
  const isOpen = kind.isOpen === true;
  return {
    type: "choose",
    field,
    about: about.join("\n"),
    options,
    isMultiple: kind.type === "choices",
    otherName: otherName ?? (isOpen ? field.name : undefined),
  };
}
