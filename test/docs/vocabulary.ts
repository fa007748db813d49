/** Every name that a document may use: identifiers and literals of the source, flags, keys, routes, files. */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { configurationKeys } from "../../scripts/docs/configuration.ts";
import { type CommandSpec, longFlag, shortFlag } from "../../src/cli/command.ts";
import { PROGRAM } from "../../src/cli/commands.ts";
import { eventBodies } from "../../src/domain/events.ts";
import { taskEventBodies } from "../../src/domain/task/events.ts";
import { ROUTES } from "../../src/server/http/routes/index.ts";
import { repositoryFiles, ROOT } from "./documents.ts";

export interface Vocabulary {
  /** Identifiers, and string literals without spaces, of everything that is not a test. */
  readonly words: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly scripts: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  readonly routes: readonly string[];
  /** By class or interface of the public API: the names in its declaration. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
}

export function readVocabulary(): Vocabulary {
  const files = repositoryFiles();
  const { scripts, dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(`${ROOT}package.json`, "utf8"),
  ) as Record<"scripts" | "dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>;
  const words = sourceWords(files);
  const packages = [dependencies, devDependencies, optionalDependencies].flatMap((list) => Object.keys(list));
  return {
    words: new Set([
      ...words,
      ...[...words].flatMap(metricNames),
      ...packages,
      "rookery",
      "rookery/acp",
      "rookery/client",
      "rookery/testing",
      "NAME",
    ]),
    files: new Set(files.flatMap((file) => [file, ...directories(file)])),
    scripts: new Set(Object.keys(scripts)),
    flags: new Set(["--help", "--version", "-h", "-V", ...flagsIn(PROGRAM)]),
    keys: new Set([...configurationKeys().keys()].flatMap(prefixes)),
    events: new Set([...Object.keys(eventBodies()), ...Object.keys(taskEventBodies())]),
    routes: ROUTES.map(({ path }) => path),
    members: new Map(["api.md", "api-client.md", "api-testing.md"].flatMap(membersIn)),
  };
}

/** The names that a metric of the source may have in Prometheus. `documented-metrics.test.ts` checks the exact ones. */
function metricNames(word: string): string[] {
  if (!/^(rookery|gen_ai)\.[a-z_.]+$/.test(word)) return [];
  const name = word.replaceAll(".", "_");
  return ["", "_total", "_seconds", "_bytes", "_bytes_total"].map((suffix) => `${name}${suffix}`);
}

/** Returns the command that the words name, with its flags. Undefined if there is no such command. */
export function findCommand(words: readonly string[]): { readonly flags: ReadonlySet<string> } | undefined {
  let command: CommandSpec = PROGRAM;
  for (const word of words) {
    if (command.commands === undefined || /^[-"]/.test(word)) break; // options, or a prompt
    const next: CommandSpec | undefined = command.commands.find(({ name }) => name === word);
    if (next === undefined) {
      if (word === "help" || word === "COMMAND" || word === "…") return { flags: new Set(["--help", "-h"]) };
      return undefined;
    }
    command = next;
  }
  const fallback = command.commands?.find(({ name }) => name === command.defaultCommand);
  return {
    flags: new Set(["--help", "-h", "--version", "-V", ...flagsOf(command), ...(fallback ? flagsOf(fallback) : [])]),
  };
}

/** From the generated reference: it has one section per export, with the declaration. */
function membersIn(page: string): [string, ReadonlySet<string>][] {
  const sections = readFileSync(`${ROOT}docs/reference/${page}`, "utf8").split(/^## /m).slice(1);
  return sections.map((section) => {
    const [name = "", ...lines] = section.split("\n");
    const members = lines.flatMap(
      (line) => /^ {2}(?:(?:get|async|readonly|static) )*(\w+)[(?:<]/.exec(line)?.[1] ?? [],
    );
    return [name, new Set(members)];
  });
}

function flagsIn(command: CommandSpec): string[] {
  return [...flagsOf(command), ...(command.commands ?? []).flatMap(flagsIn)];
}

function flagsOf({ options = [] }: CommandSpec): string[] {
  return options.flatMap((option) => [longFlag(option), shortFlag(option) ?? []].flat());
}

function prefixes(key: string): string[] {
  const parts = key.split(".");
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}

function directories(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return parts.flatMap((_, index) => {
    const directory = parts.slice(0, index + 1).join("/");
    return [directory, `${directory}/`];
  });
}

const SOURCES = /^(src|scripts|examples|bench|e2e|test)\/.*\.(ts|mjs)$/;
const NOT_SOURCES = /\.test\.ts$|^src\/client\/schema\.ts$|^test\/docs\/|^scripts\/docs\//;

function sourceWords(files: readonly string[]): Set<string> {
  const words = new Set<string>();
  for (const file of files.filter((name) => SOURCES.test(name) && !NOT_SOURCES.test(name))) {
    collectWords(ts.createSourceFile(file, readFileSync(`${ROOT}${file}`, "utf8"), ts.ScriptTarget.ESNext), words);
  }
  return words;
}

/** Comments do not count, nor do sentences. */
function collectWords(node: ts.Node, words: Set<string>): void {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) words.add(node.text.replace(/^#/, ""));
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
    if (!/\s/.test(node.text)) words.add(node.text);
  }
  ts.forEachChild(node, (child) => collectWords(child, words));
}
