/** What may be given to an agent as input. */
import { RookeryError, type InputPart } from "../domain/index.ts";

/** Larger than any model reads; a file that large belongs in the working folder. */
export const MAX_INPUT_BYTES = 4 * 1024 * 1024;

export function asInput(input: string | readonly InputPart[]): InputPart[] {
  const parts: InputPart[] = typeof input === "string" ? [{ type: "text", text: input }] : [...input];
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw new RookeryError("input_invalid", "the prompt is empty: say what the agent should do");
  }
  const bytes = parts.reduce((sum, part) => sum + (part.type === "text" ? Buffer.byteLength(part.text) : 0), 0);
  if (bytes > MAX_INPUT_BYTES) {
    throw new RookeryError(
      "input_too_large",
      `the prompt has ${megabytes(bytes)} MB, and at most ${megabytes(MAX_INPUT_BYTES)} MB are taken: put the text in a file of the working folder and name the file`,
    );
  }
  return parts;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
