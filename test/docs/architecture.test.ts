import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ROOT } from "./documents.ts";

it("the table of ARCHITECTURE.md has the layers and imports that test/layers.test.ts enforces", () => {
  const source = readFileSync(`${ROOT}test/layers.test.ts`, "utf8");
  const literal = /const ARROWS[^=]*= (\{[^]*?\n\});/.exec(source)?.[1];
  if (literal === undefined) throw new Error("test/layers.test.ts has no table ARROWS");
  const entries = [...literal.matchAll(/^ {2}"?([\w.]+)"?: \[([^\]]*)\]/gm)];
  const enforced = Object.fromEntries(
    entries.map(([, layer, list]) => [layer, [...(list ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name).sort()]),
  );
  const rows = [...readFileSync(`${ROOT}ARCHITECTURE.md`, "utf8").matchAll(/^\| `([\w.]+)` \|[^|]*\|([^|]*)\|$/gm)];
  const documented = Object.fromEntries(
    rows.map(([, layer, list]) => [layer, [...(list ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort()]),
  );
  expect(documented).toEqual(enforced);
});
