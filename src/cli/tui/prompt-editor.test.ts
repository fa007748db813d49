import { expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import { PromptEditor } from "./prompt-editor.ts";

const [ENTER, DOWN] = ["\r", "\u001b[B"];

/** An editor whose completions are always the same values. `typed`: what is typed before it has them. */
function open(typed = ""): {
  readonly editor: PromptEditor;
  readonly submitted: string[];
  readonly completions: Promise<void>;
} {
  const submitted: string[] = [];
  let arrived = (): void => undefined;
  const completions = new Promise<void>((resolve) => (arrived = resolve));
  const editor: PromptEditor = new PromptEditor({
    paint: plainPaint,
    rows: () => 24,
    onChange: () => editor.isCompleting && arrived(),
    onSubmit: (text) => void submitted.push(text),
  });
  for (const key of typed) editor.handleKey(key);
  editor.setCompletion({
    getSuggestions: async () => ({ items: ["ask", "read"].map((value) => ({ value, label: value })), prefix: "" }),
    applyCompletion: (lines, cursorLine, cursorCol, { value }) => ({
      lines: [`${lines[0] ?? ""}${value}`],
      cursorLine,
      cursorCol: cursorCol + value.length,
    }),
  });
  return { editor, submitted, completions };
}

it("submits an argument as it was typed, although completions are shown", async () => {
  const { editor, submitted, completions } = open();
  for (const key of "/permissions read") editor.handleKey(key);
  await completions;
  editor.handleKey(ENTER);
  expect(submitted).toEqual(["/permissions read"]);
});

it("submits the completion that was chosen with the arrow keys", async () => {
  const { editor, submitted, completions } = open();
  for (const key of "/permissions ") editor.handleKey(key);
  await completions;
  editor.handleKey(DOWN);
  editor.handleKey(ENTER);
  expect(editor.text).toBe("/permissions read");
  expect(submitted).toEqual([]);
});

it("completes what was typed before it had completions", async () => {
  const { editor, completions } = open("see @src/");
  await completions;
  expect(editor.isCompleting).toBe(true);
});
