import { describe, expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import { fitsLiveRegion, renderLiveRequest } from "./live-request.ts";

const STYLE = { width: 60, rows: 24, paint: plainPaint };

function ask(input: unknown, more: Partial<PendingRequest> = {}): PendingRequest {
  return { requestId: "r1", tool: "bash", title: "", input, ...more };
}

function render(request: PendingRequest, style: Partial<typeof STYLE> = {}): string[] {
  return renderLiveRequest({ request, isPrinted: false }, { ...STYLE, ...style });
}

describe("a request in the live region", () => {
  it("shows a short command in its question", () => {
    expect(render(ask({ command: "npm test" }))).toEqual(["? Allow bash? npm test"]);
  });

  it("shows everything else below the question", () => {
    expect(render(ask({ command: "npm test", timeout: 5 }))).toEqual(["? Allow bash? npm test", "  timeout: 5"]);
    const claude = { description: "Runs the tests", command: "npm test", dangerouslyDisableSandbox: true };
    expect(render(ask(claude))).toEqual([
      "? Allow bash? npm test",
      "  description: Runs the tests",
      "  dangerouslyDisableSandbox: true",
    ]);
    expect(render(ask({ command: ["rm", "a b"] }))).toEqual(["? Allow bash?", '  command: ["rm","a b"]']);
    expect(render(ask({ command: "a\nb" }))).toEqual(["? Allow bash?", "  command (2 lines):", "  │ a", "  │ b"]);
    expect(render(ask({ command: "x".repeat(60) }))[1]).toBe("  command:");
    expect(render(ask({ command: "echo \u200bhidden" })).join("\n")).toContain("<U+200B>");
  });

  it("shows the title and the text if the agent sends no command", () => {
    const content = [{ type: "content", content: { type: "text", text: "[directory /a] (Runs the tests)" } }];
    const gemini = ask({ title: "npm test", content }, { tool: "execute", title: "npm test" });
    expect(render(gemini)).toEqual(["? Allow execute? npm test", "  content: [directory /a] (Runs the tests)"]);
    const other = ask({ title: "npm test", content }, { tool: "execute", title: "something else" });
    expect(render(other)).toContain("  title: npm test");
    const both = ask({ title: "ls", command: "rm a" }, { title: "ls" });
    expect(render(both)).toEqual(["? Allow bash? rm a", "  title: ls"]);
    const annotated = [{ type: "content", content: { type: "text", text: "a", annotations: { priority: 1 } } }];
    expect(render(ask({ content: annotated })).join("")).toContain("annotations");
  });

  it("names the directory only if it is not that of the session", () => {
    expect(render(ask({ command: "ls", cwd: "." }))).toEqual(["? Allow bash? ls"]);
    expect(render(ask({ command: "ls", cwd: "src" }))).toEqual(["? Allow bash? ls", "  cwd: src"]);
  });

  it("says for whom it asks", () => {
    expect(render(ask({ command: "ls" }, { from: "Maker" }))).toEqual(["? Allow bash for Maker? ls"]);
  });

  it("leaves room for a diff with its title and for the keys", () => {
    const after = Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join("");
    const request = ask({}, { tool: "write", title: "write a.txt", diffs: [{ path: "a.txt", before: null, after }] });
    const lines = render(request);
    expect(lines.length).toBeLessThanOrEqual(24 - 5);
    expect(lines.slice(0, 2)).toEqual(["? Allow write?", "  a.txt new file +60"]);
    expect(lines.at(-1)).toMatch(/more lines; d opens/);
    expect(fitsLiveRegion(request, STYLE)).toBe(true);
  });
});

it("does not fit the live region if a line of its command would be hidden", () => {
  const lines = (count: number) => ask({ command: Array.from({ length: count }, () => "true").join("\n") });
  expect(fitsLiveRegion(lines(17), STYLE)).toBe(true);
  expect(fitsLiveRegion(lines(18), STYLE)).toBe(false);
  expect(renderLiveRequest({ request: lines(100), isPrinted: true }, STYLE)).toHaveLength(1);
  expect(render(lines(17), { rows: 12 }).at(-1)).toMatch(/… 12 more lines; make the terminal/); // after a resize
});
