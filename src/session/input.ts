/** Validates the input of a turn. */
import { RookeryError, type InputPart, type SessionStore } from "../domain/index.ts";
import { parsePromptInput } from "./parameters.ts";

/** More than any model reads. Larger texts belong in a file of the working directory. */
export const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/** Throws `input_invalid` or `input_too_large`. */
export function toInputParts(value: string | readonly InputPart[]): InputPart[] {
  const input = parsePromptInput(value);
  const parts: InputPart[] = typeof input === "string" ? [{ type: "text", text: input }] : [...input];
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw new RookeryError("input_invalid", "the prompt is empty: describe what the agent should do");
  }
  const bytes = parts.reduce((sum, part) => sum + (part.type === "text" ? Buffer.byteLength(part.text) : 0), 0);
  if (bytes > MAX_INPUT_BYTES) {
    throw new RookeryError(
      "input_too_large",
      `the prompt is too large (${formatMegabytes(bytes)} MB; the limit is ${formatMegabytes(MAX_INPUT_BYTES)} MB): put the text in a file of the working directory and name the file in the prompt`,
    );
  }
  return parts;
}

/** Rejects with `attachment_missing` if the store does not have the bytes of a part. */
export async function requireAttachments(store: SessionStore, input: readonly InputPart[]): Promise<void> {
  for (const part of input) {
    if (part.type !== "blob" || (await store.getBlob(part.hash)) !== undefined) continue;
    const name = part.name ?? part.mediaType;
    throw new RookeryError(
      "attachment_missing",
      `the attachment ${name} is not in the store (${part.hash.slice(0, 80)}): store its bytes first, then send the prompt again`,
    );
  }
}

function formatMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
