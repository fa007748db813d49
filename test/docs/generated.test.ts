import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generatePages } from "../../scripts/docs/pages.ts";
import { ROOT } from "./documents.ts";

it.each(Object.entries(generatePages(ROOT)))("%s is up to date; if not, run npm run docs", (path, text) => {
  expect(readFileSync(`${ROOT}${path}`, "utf8") === text).toBe(true);
});
