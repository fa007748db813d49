import { expect, it } from "vitest";
import { guessToolKind } from "./kind.ts";

it.each([
  ["read_file", undefined, "read"],
  ["searchIssues", undefined, "search"],
  ["create_issue", undefined, "edit"],
  ["get_or_create", false, "edit"],
  ["create_report", true, "read"],
  ["git.push", undefined, "other"],
  ["run-shell", undefined, "execute"],
] as const)("classifies %s, with readOnly %s, as %s", (tool, readOnly, kind) => {
  expect(guessToolKind(tool, { readOnly })).toBe(kind);
});
