/** Creates and validates task ids that a person can type. */
import { randomBytes } from "node:crypto";
import { RookeryError, TaskId } from "../domain/index.ts";
import { trimBothEndsOf } from "../stdx/index.ts";

const MAX_SLUG_LENGTH = 32;

/** Builds an id from the first words of the prompt and four random characters, so that a prompt can be used twice. */
export function createTaskId(prompt: string): string {
  const plain = prompt.normalize("NFKD").toLowerCase();
  const words = trimBothEndsOf(plain.replaceAll(/[^a-z0-9]+/g, "-").slice(0, MAX_SLUG_LENGTH), "-");
  const end = randomBytes(2).toString("hex");
  return `${words === "" ? "task" : words}-${end}`;
}

/** Throws `input_invalid`. */
export function parseTaskId(id: string): string {
  const read = TaskId.safeParse(id);
  if (read.success) return id;
  const shown = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
  const why =
    id.length > 64 ? "it has more than 64 characters" : (read.error.issues[0]?.message ?? "it has an invalid form");
  throw new RookeryError(
    "input_invalid",
    `${shown} is not a valid task id: ${why}; use an id such as fix-login or issue-12`,
  );
}
