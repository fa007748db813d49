import { describe, expect, it } from "vitest";
import type { Question, QuestionAnswer } from "../../domain/backend.ts";
import { plainPaint } from "../paint.ts";
import { FormInput } from "./form-input.ts";
import { formatAnsweredQuestion } from "./question-view.ts";

const UP = "\u001b[A";
const DOWN = "\u001b[B";
const ENTER = "\r";
const ESCAPE = "\u001b";

function ask(properties: Record<string, unknown>, message: string, required = Object.keys(properties)): Question {
  return { message, schema: { type: "object", properties, required } };
}

/** A question in the form of Claude Code. */
const DATABASE = ask(
  {
    answer: {
      type: "string",
      title: "Which database?",
      description: "SQLite: One file, no server\nPostgreSQL: A server, many writers",
      anyOf: [{ const: "SQLite", title: "SQLite" }, { const: "PostgreSQL" }, { type: "string" }],
    },
  },
  "Which database?",
);
const FEATURES = ask(
  {
    answer: {
      type: "array",
      title: "Which features?",
      minItems: 1,
      items: { type: "string", anyOf: [{ const: "A" }, { const: "B" }, { const: "C" }, { type: "string" }] },
    },
  },
  "Which features?",
);

function render(form: FormInput, width = 60, rows = 20): string[] {
  const renderInput = (label: string) => ({ lines: [label], cursor: { row: 0, column: label.length } });
  return [...form.render({ width, rows, paint: plainPaint, renderInput }).lines];
}

/** Presses keys; a text of several characters is typed into the editor and submitted. */
async function answer(question: Question, ...inputs: string[]): Promise<QuestionAnswer | undefined> {
  const form = new FormInput(question);
  for (const input of inputs) {
    if (input.length > 1 && !input.startsWith(ESCAPE)) form.submit(input);
    else form.handleKey(input);
  }
  return Promise.race([form.answer, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]);
}

describe("a question with options", () => {
  it("is one block with each option once", () => {
    expect(render(new FormInput(DATABASE))).toEqual([
      "? Which database?",
      "❯ 1 SQLite      One file, no server",
      "  2 PostgreSQL  A server, many writers",
      "  3 Other       type your own answer",
      "↑↓ or a number · Enter answers · Esc declines",
    ]);
  });

  it.each<[string, string[], unknown]>([
    ["arrows and Enter", [DOWN, ENTER], "PostgreSQL"],
    ["arrows that wrap around", [UP, UP, ENTER], "PostgreSQL"],
    ["a number", ["2"], "PostgreSQL"],
    ["the person's own words", ["3", "DuckDB, please"], "DuckDB, please"],
    ["words that are typed at once", ["D", "DuckDB"], "DuckDB"],
  ])("is answered with %s", async (_, keys, value) => {
    expect(await answer(DATABASE, ...keys)).toEqual({ action: "accept", content: { answer: value } });
  });

  it("leaves a text with Esc, and declines with the next one", async () => {
    expect(await answer(DATABASE, "3", ESCAPE)).toBeUndefined();
    expect(await answer(DATABASE, "3", ESCAPE, ESCAPE)).toEqual({ action: "decline" });
  });

  it("does not answer by a letter, but moves to the option", async () => {
    const closed = ask({ color: { type: "string", enum: ["red", "green"] } }, "Which color?");
    expect(await answer(closed, "g")).toBeUndefined();
    expect(await answer(closed, "g", ENTER)).toEqual({ action: "accept", content: { color: "green" } });
  });

  it("does not accept a sentence that is not one of the options", async () => {
    const closed = ask({ color: { type: "string", enum: ["red", "green"] } }, "Which color?");
    expect(await answer(closed, ...Array.from("neither 2"), ENTER)).toBeUndefined();
    expect(await answer(closed, ...Array.from("gray"), ENTER)).toBeUndefined();
    expect(await answer(closed, ...Array.from("gray"), UP, ENTER)).toEqual({
      action: "accept",
      content: { color: "red" },
    });
    expect(await answer(closed, ...Array.from("green"), ENTER)).toEqual({
      action: "accept",
      content: { color: "green" },
    });
    const form = new FormInput(closed);
    for (const key of "both") form.handleKey(key);
    expect(render(form, 80).slice(-2)).toEqual([
      "! the answer must be one of these options: choose one with ↑↓",
      "↑↓ or a number · Enter answers · Esc declines",
    ]);
  });

  it("selects several options with Space or numbers", async () => {
    const form = new FormInput(FEATURES);
    for (const key of [" ", DOWN, DOWN, " "]) form.handleKey(key);
    expect(render(form)).toEqual([
      "? Which features?",
      "  1 [x] A",
      "  2 [ ] B",
      "❯ 3 [x] C",
      "  4 Other  type your own answer",
      "↑↓ and Space, or numbers · Enter answers · Esc declines",
    ]);
    expect(await answer(FEATURES, "1", "3", ENTER)).toEqual({ action: "accept", content: { answer: ["A", "C"] } });
    expect(await answer(FEATURES, DOWN, ENTER)).toEqual({ action: "accept", content: { answer: ["B"] } });
    expect(await answer(FEATURES, "1", "4", "mine")).toEqual({ action: "accept", content: { answer: ["A", "mine"] } });
  });

  it("offers the free-text field that Codex adds", async () => {
    const codex = ask(
      {
        db: {
          type: "string",
          title: "Database",
          description: "Which one?",
          oneOf: [{ const: "a", title: "a: small" }],
        },
        db_other: { type: "string", title: "Something else" },
      },
      "Which one?",
      [],
    );
    expect(render(new FormInput(codex)).slice(0, 3)).toEqual([
      "? Which one?",
      "❯ 1 a      small",
      "  2 Other  type your own answer",
    ]);
    expect(await answer(codex, "2", "both")).toEqual({ action: "accept", content: { db_other: "both" } });
    expect(await answer(codex, "\t")).toEqual({ action: "accept", content: {} });
  });

  it.each([20, 40])("fits %d columns and a small screen, with the selected option", (width) => {
    const form = new FormInput(DATABASE);
    form.handleKey(DOWN);
    const lines = render(form, width, 4);
    expect(lines.length).toBeLessThanOrEqual(4);
    expect(lines.filter((line) => line.length > width)).toEqual([]);
    expect(lines.join("\n")).toContain("❯ 2 Postgr");
  });
});

describe("a form with several fields", () => {
  const FORM = ask(
    { name: { type: "string", title: "Name" }, port: { type: "integer", maximum: 9 }, on: { type: "boolean" } },
    "Set it up",
  );

  it("asks page by page, says what is wrong, and shows all values before it sends them", async () => {
    const form = new FormInput({ ...FORM, from: "github" });
    expect(render(form)).toEqual([
      "? github asks: Name 1 of 3",
      "  Set it up",
      "answer: ",
      "Enter answers · Esc declines",
    ]);
    form.submit("demo");
    form.submit("12");
    expect(render(form)).toContain("! must be at most 9");
    form.submit("7");
    form.handleKey("2");
    expect(render(form)).toEqual([
      "? github asks: Send these answers?",
      "  Name demo",
      "  port 7",
      "  on no",
      "Enter sends · Esc goes back",
    ]);
    form.handleKey(ENTER);
    expect(await form.answer).toEqual({ action: "accept", content: { name: "demo", port: 7, on: false } });
  });
});

it("confirms a question without fields, and shows the host of a page", async () => {
  expect(await answer({ message: "Go on?" }, ENTER)).toEqual({ action: "accept", content: {} });
  const page = { message: "Log in", url: "https://example.org/login" };
  expect(render(new FormInput(page)).slice(0, 3)).toEqual([
    "? Log in",
    "  host: example.org",
    "https://example.org/login",
  ]);
  expect(await answer(page, ENTER)).toEqual({ action: "accept" });
});

it("escapes text from the asker", () => {
  const nasty = "a\u001b[2J\u202ex";
  const form = new FormInput(ask({ a: { type: "string", title: nasty, enum: [nasty] } }, nasty));
  expect(render(form).join("")).not.toMatch(/[\u001b\u202e]/u);
});

it("keeps one line of an answered question", () => {
  const answered = (given: QuestionAnswer) => formatAnsweredQuestion(DATABASE, given, plainPaint);
  expect(answered({ action: "accept", content: { answer: "SQLite" } })).toEqual(["? Which database? SQLite"]);
  expect(answered({ action: "decline" })).toEqual(["? Which database? — declined"]);
});
