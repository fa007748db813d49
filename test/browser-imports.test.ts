import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/** What a page in a browser loads: the client, and the code that computes states and views from events. */
const ENTRIES = [
  "client/index.ts",
  "domain/command-prefix.ts",
  "domain/enums.ts",
  "domain/state-fold.ts",
  "domain/state.ts",
  "domain/summary.ts",
  "domain/task/build-view.ts",
  "domain/task/state.ts",
];

/** Packages that run in browsers and are small. */
const ALLOWED = ["openapi-fetch", "eventsource-parser", "eventsource-parser/stream"];

it.each(ENTRIES)("%s runs in a browser, without zod and Node.js", (entry) => {
  expect(findForeignImports(entry, readSource)).toEqual([]);
});

it("finds an import that a browser cannot load, and ignores types", () => {
  const sources: Readonly<Record<string, string>> = {
    "a.ts": 'import type { z } from "zod"; import { b } from "./b.ts"; export const a = b;',
    "b.ts":
      'import { type Hash, createHash } from "node:crypto"; export const b: () => Hash = () => createHash("md5");',
    "c.ts": 'export * from "./d.ts";',
    "d.ts": 'export const d = () => import("zod");',
  };
  const read = (file: string): string => sources[file] ?? "";
  expect(findForeignImports("a.ts", read)).toEqual(["b.ts imports node:crypto"]);
  expect(findForeignImports("c.ts", read)).toEqual(["d.ts imports zod"]);
});

/** Walks the imports that remain at run time. */
function findForeignImports(entry: string, read: (file: string) => string): string[] {
  const found: string[] = [];
  const files = new Set([entry]);
  for (const file of files) {
    for (const specifier of listRuntimeImports(read(file))) {
      if (specifier.startsWith(".")) files.add(relative(SRC, resolve(SRC, dirname(file), specifier)));
      else if (!ALLOWED.includes(specifier)) found.push(`${file} imports ${specifier}`);
    }
  }
  return found;
}

function readSource(file: string): string {
  return readFileSync(resolve(SRC, file), "utf8");
}

function listRuntimeImports(source: string): string[] {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext, verbatimModuleSyntax: true },
  });
  return ts.preProcessFile(outputText, true, true).importedFiles.map(({ fileName }) => fileName);
}
