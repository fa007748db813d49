import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { checkCommandLine, checkSpan, usedForeignNames } from "./check-span.ts";
import { isDecision, isGenerated, parseDocument, readDocuments, ROOT, type Document } from "./documents.ts";
import { FOREIGN_NAMES } from "./foreign-names.ts";
import { readVocabulary } from "./vocabulary.ts";

const documents = readDocuments();
const vocabulary = readVocabulary();
const written = documents.filter((document) => !isGenerated(document));

it.each(written.filter((document) => !isDecision(document)))("$path names only things that exist", (document) => {
  expect(problems(document)).toEqual([]);
});

/** A decision names what it decided against; only its paths and commands must exist. */
it.each(written.filter(isDecision))("$path names only files and commands that exist", (document) => {
  const checked = document.spans.filter(({ text }) =>
    /^(src|docs|test|scripts|e2e|bench)\/|^rookery |^npm run /.test(text),
  );
  expect(problems({ ...document, spans: checked })).toEqual([]);
});

it.each(documents)("links of $path resolve", (document) => {
  expect(document.links.filter(({ target }) => !resolves(document, target))).toEqual([]);
});

it("commands in shell blocks exist, with their options", () => {
  const lines = documents.flatMap(({ path, fences }) =>
    fences
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => text.split("\n"))
      .flatMap((line) => line.replace(/#.*$/, "").split(/\||&&|;|\$\(/))
      .map((line) => line.trim())
      .filter((line) => /^(npx )?rookery /.test(line))
      .map((line) => ({ path, line })),
  );
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter(({ line }) => checkCommandLine(withoutStrings(line)) !== undefined)).toEqual([]);
});

it("no foreign name is listed that no document uses", () => {
  expect([...FOREIGN_NAMES].filter((name) => !usedForeignNames.has(name))).toEqual([]);
});

it("README.md and ARCHITECTURE.md are short", () => {
  expect(statSync(`${ROOT}README.md`).size).toBeLessThanOrEqual(8 * 1024);
  expect(statSync(`${ROOT}ARCHITECTURE.md`).size).toBeLessThanOrEqual(10 * 1024);
});

it("docs/README.md links to every page", () => {
  const linked = new Set(linkedFrom("docs/README.md"));
  const pages = documents
    .map(({ path }) => path)
    .filter((path) => path.startsWith("docs/") && !path.startsWith("docs/adr/"));
  expect(pages.filter((path) => path !== "docs/README.md" && !linked.has(path))).toEqual([]);
});

it("docs/adr/README.md links to every decision, and each has a number, a date and a status", () => {
  const linked = new Set(linkedFrom("docs/adr/README.md"));
  const decisions = documents.filter(({ path }) => /^docs\/adr\/\d{4}-/.test(path));
  expect(documents.filter((document) => isDecision(document)).length).toBe(decisions.length + 1);
  expect(decisions.filter(({ path }) => !linked.has(path))).toEqual([]);
  expect(decisions.filter(({ text }) => !/^Date: 20\d\d-\d\d-\d\d\. Status: [a-z]/m.test(text))).toEqual([]);
});

describe("a wrong name is noticed", () => {
  it.each([
    ["a file", "`src/sessions/open.ts`"],
    ["an option", "`--permission`"],
    ["an option of another command", "`rookery sessions list --budget`"],
    ["a command", "`rookery session show`"],
    ["a configuration key", "`agents.NAME.permission`"],
    ["a table", "`[worktrees]`"],
    ["an assignment", "`back_too = 3`"],
    ["an event type", "`turn.finished`"],
    ["an error code", "`session_lost`"],
    ["an identifier", "`openSesion`"],
    ["a route", "`GET /v1/jobs`"],
    ["a script", "`npm run benchmark`"],
  ])("%s: %s", (_, text) => {
    expect(problems(parseDocument("x.md", text))).toHaveLength(1);
  });

  it.each(["[x](docs/missing.md)", "[x](README.md#missing)"])("a link: %s", (text) => {
    const document = parseDocument("x.md", text);
    expect(document.links.filter(({ target }) => !resolves(document, target))).toHaveLength(1);
  });
});

function problems({ path, spans }: Document): string[] {
  return spans.flatMap(({ text, line }) => {
    const problem = checkSpan(text, vocabulary);
    return problem === undefined ? [] : [`${path}:${line}: \`${text}\`: ${problem}`];
  });
}

function resolves({ path, anchors }: Document, target: string): boolean {
  if (/^https?:/.test(target)) return true;
  const [file = "", anchor] = target.split("#");
  const resolved = file === "" ? path : normalize(join(dirname(path), file));
  if (!existsSync(join(ROOT, resolved))) return file === "" && (anchor === undefined || anchors.has(anchor));
  if (anchor === undefined) return true;
  const found = file === "" ? anchors : documents.find((document) => document.path === resolved)?.anchors;
  return found?.has(anchor) === true;
}

function linkedFrom(path: string): string[] {
  const document = documents.find((candidate) => candidate.path === path);
  return (document?.links ?? []).map(({ target }) => normalize(join(dirname(path), target.split("#")[0]!)));
}

function withoutStrings(line: string): string {
  return line.replaceAll(/"[^"]*"|'[^']*'/g, '"TEXT"');
}
