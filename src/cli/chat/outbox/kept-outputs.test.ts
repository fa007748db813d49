import { describe, expect, it } from "vitest";
import { plainPaint } from "../../paint.ts";
import { composeLiveRegion } from "../screen/compose.ts";
import { formatShellOutput, KeptOutputs } from "./kept-outputs.ts";

const style = { width: 100, paint: plainPaint };
const outputOf = (command: string, text = "x") => ({ command, text, end: "exit code 0" });

describe("the outputs that go with the next prompt", () => {
  it("are shown with their size, and a hint until the first ones are gone", () => {
    const kept = new KeptOutputs();
    expect(kept.render(style)).toEqual([]);
    kept.add(outputOf("ls", "a\nb"));
    expect(kept.render(style)).toEqual(["[output of ls, 2 lines] for your next prompt · Backspace drops it"]);
    kept.dropLast();
    kept.add(outputOf("pwd"), outputOf("evil\u001b[2J\u202e"));
    const [line = ""] = kept.render(style);
    expect(line).toMatch(/^\[output of pwd, 1 line\] \[output of evil.*, 1 line\]$/);
    expect(line).not.toMatch(/[\u001b\u202e]/);
    kept.dropLast();
    expect(kept.take()).toEqual([outputOf("pwd")]);
    expect(kept.render(style)).toEqual([]);
  });

  it("are the five newest, each with its last 30,000 characters", () => {
    const kept = new KeptOutputs();
    for (let index = 0; index < 7; index += 1) kept.add(outputOf(`echo ${index}`));
    expect(kept.take().map(({ command }) => command)).toEqual(["echo 2", "echo 3", "echo 4", "echo 5", "echo 6"]);
    const text = formatShellOutput(outputOf("cat log", `start${"x".repeat(30_000)}`));
    expect(text).toBe(`\nOutput of \`cat log\` (exit code 0):\n\n${"x".repeat(30_000)}`);
  });

  it.each([1, 2, 5, 6, 20])("leave room for the input on a screen of %d rows", (rows) => {
    const mode = { lines: ["❯ text"], cursor: { row: 0, column: 2 } };
    const { lines, cursor } = composeLiveRegion({
      ...{ rows, progress: ["", "p"], attached: ["[a]"], mode },
      ...{ status: "s", rule: "-" },
    });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    expect(lines[cursor?.row ?? -1]).toBe("❯ text");
    expect(lines.includes("[a]")).toBe(rows > 2);
    expect(lines.includes("-")).toBe(rows >= 11);
  });
});
