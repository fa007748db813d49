import { expect, it } from "vitest";
import { kindOf } from "./kind.ts";

it.each([
  ["read_file", undefined, "read"],
  ["searchIssues", undefined, "search"],
  ["create_issue", undefined, "edit"],
  ["get_or_create", false, "edit"],
  ["create_report", true, "read"],
  ["git.push", undefined, "other"],
  ["run-shell", undefined, "execute"],
] as const)("%s, said to be read-only: %s, is of the kind %s", (tool, readOnly, kind) => {
  expect(kindOf(tool, { readOnly })).toBe(kind);
});
