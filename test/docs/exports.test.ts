/** The package exports what users need, and the documents name every value of it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as rookery from "../../src/index.ts";
import { ROOT } from "./documents.ts";

it("every value that rookery exports is in the table of docs/library.md, and nothing else is", () => {
  const text = readFileSync(`${ROOT}docs/library.md`, "utf8");
  const [, table = ""] = /## What the package exports\n([^]*?)\n\n\[/.exec(text) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const documented = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(Object.keys(rookery).toSorted()).toEqual(documented.toSorted());
});
