import { expect, it } from "vitest";
import { TaskId } from "../domain/index.ts";
import { parseTaskId, createTaskId } from "./id.ts";

it.each([
  ["Add pagination to the list", /^add-pagination-to-the-list-[0-9a-f]{4}$/],
  ["Étude: naïve façade!", /^e-tude-nai-ve-fac-ade-[0-9a-f]{4}$/],
  ["修正する", /^task-[0-9a-f]{4}$/],
  ["../../etc/passwd", /^etc-passwd-[0-9a-f]{4}$/],
  ["x".repeat(500), /^x{32}-[0-9a-f]{4}$/],
])("creates an id that can be typed from %j", (prompt, shape) => {
  const id = createTaskId(prompt);
  expect(id).toMatch(shape);
  expect(TaskId.safeParse(id).success).toBe(true);
});

it.each(["fix", "issue-12", "a.b", "0", "a_b"])("accepts the id %s", (id) => expect(parseTaskId(id)).toBe(id));

it.each([
  "",
  "../x",
  "a/b",
  "-x",
  ".x",
  "x.",
  "a..b",
  "X",
  "a b",
  "é",
  "x.lock",
  "ses_1",
  "a\n",
  "a\0",
  "x".repeat(300),
])("rejects the id %j and explains why", (id) => {
  expect(() => parseTaskId(id)).toThrow(expect.objectContaining({ code: "input_invalid" }) as Error);
  expect(() => parseTaskId(id)).toThrow(/is not a valid task id: .+; use an id such as fix-login/);
});
