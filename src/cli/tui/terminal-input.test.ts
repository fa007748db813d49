import { expect, it } from "vitest";
import { type TerminalInput, TerminalInputParser } from "./terminal-input.ts";

function parse(...chunks: string[]): TerminalInput[] {
  const inputs: TerminalInput[] = [];
  using parser = new TerminalInputParser({ onInput: (input) => inputs.push(input), maxPaste: 100 });
  for (const chunk of chunks) parser.feed(chunk);
  return inputs;
}
const keys = (inputs: TerminalInput[]) =>
  inputs.map((input) => (input.type === "key" ? input.data : `<${input.text}>`));

it.each<[string, string[], string[]]>([
  ["characters", ["aé😀"], ["a", "é", "😀"]],
  ["arrow keys", ["\x1b[A\x1bOB"], ["\x1b[A", "\x1bOB"]],
  ["modified keys", ["\x1b[1;5C\x1b[27;2;13~\x1b[13;2u"], ["\x1b[1;5C", "\x1b[27;2;13~", "\x1b[13;2u"]],
  ["a sequence in two chunks", ["\x1b[", "A"], ["\x1b[A"]],
  ["Alt-Enter", ["\x1b\r"], ["\x1b\r"]],
  [
    "answers of the terminal",
    ["\x1b]11;rgb:0/0/0\x07\x1bP1$r\x1b\\x"],
    ["\x1b]11;rgb:0/0/0\x07", "\x1bP1$r\x1b\\", "x"],
  ],
  ["a paste", ["a\x1b[200~b\r\nc\x1b[201~d"], ["a", "<b\r\nc>", "d"]],
  ["a paste whose end is split", ["\x1b[200~ab\x1b[2", "01~c"], ["<ab>", "c"]],
  ["an escape sequence inside a paste", ["\x1b[200~\x1b[A\x1b[201~"], ["<\x1b[A>"]],
])("splits %s", (_, chunks, expected) => {
  expect(keys(parse(...chunks))).toEqual(expected);
});

it("keeps at most the limit of a paste and counts the rest", () => {
  const [input] = parse(`\x1b[200~${"x".repeat(80)}`, "y".repeat(50), "\x1b[201~");
  expect(input).toMatchObject({ type: "paste", excess: 30 });
});

it("treats a lone ESC as the Escape key after a pause", async () => {
  const inputs: TerminalInput[] = [];
  await new Promise<void>((resolve) => {
    const parser = new TerminalInputParser({
      onInput: (input) => {
        inputs.push(input);
        resolve();
      },
    });
    parser.feed("\x1b");
    expect(inputs).toEqual([]);
  });
  expect(inputs).toEqual([{ type: "key", data: "\x1b" }]);
});

it("collects a paste of 5 MB from small chunks in linear time", () => {
  let length = 0;
  const parser = new TerminalInputParser({
    onInput: (input) => (length = input.type === "paste" ? input.text.length : 0),
  });
  parser.feed("\x1b[200~");
  for (let index = 0; index < 5_120; index += 1) parser.feed("x".repeat(1024));
  parser.feed("\x1b[201~");
  expect(length).toBe(5 * 1024 * 1024);
});
