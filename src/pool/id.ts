/** Names for tasks that a person can type. */
import { randomBytes } from "node:crypto";
import { RookeryError, TaskId } from "../domain/index.ts";
import { trimBothEndsOf } from "../stdx/index.ts";

const WORDS_LENGTH = 32;

/** The first words of the prompt, and four characters so that the same words can be said again. */
export function idFor(prompt: string): string {
  const plain = prompt.normalize("NFKD").toLowerCase();
  const words = trimBothEndsOf(plain.replaceAll(/[^a-z0-9]+/g, "-").slice(0, WORDS_LENGTH), "-");
  const end = randomBytes(2).toString("hex");
  return `${words === "" ? "task" : words}-${end}`;
}

/** Throws `input_invalid`. */
export function checkId(id: string): string {
  const read = TaskId.safeParse(id);
  if (read.success) return id;
  const shown = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
  const why = id.length > 64 ? "it has more than 64 characters" : (read.error.issues[0]?.message ?? "it is none");
  throw new RookeryError("input_invalid", `${shown} cannot be the id of a task: ${why}; such as fix-login or issue-12`);
}
