/** Converts user input to prompt parts for a program. */
import { formatInput, type InputPart, type TurnContext } from "../../domain/index.ts";

export type PromptPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; /** Base64. */ readonly data: string };

/** Precedes the input of a turn that was parked at a usage limit after the agent had started. */
export const CONTINUE_PROMPT =
  "The usage limit that stopped you has reset. Continue what you were doing. The request was:";

export async function promptParts({ input, blob, continued }: Pick<TurnContext, "input" | "blob" | "continued">) {
  const parts = await Promise.all(input.map((part) => toPromptPart(part, blob)));
  return continued === true ? [toTextPart(CONTINUE_PROMPT), ...parts] : parts;
}

/** Joins the parts for a program that accepts only text. */
export function promptText(parts: readonly PromptPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n\n");
}

export function toTextPart(text: string): PromptPart {
  return { type: "text", text };
}

async function toPromptPart(part: InputPart, blob: TurnContext["blob"]): Promise<PromptPart> {
  if (part.type === "text") return toTextPart(part.text);
  const bytes = part.mediaType.startsWith("image/") ? await blob(part.hash) : undefined;
  if (bytes === undefined) return toTextPart(formatInput([part])); // a placeholder that names the attachment
  return { type: "image", mediaType: part.mediaType, data: Buffer.from(bytes).toString("base64") };
}
