/** Converts user input to prompt parts for a program. */
import { formatInput, type InputPart, type TurnContext } from "../../domain/index.ts";

export type PromptPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "attachment";
      /** A type that the program accepts. */
      readonly mediaType: string;
      readonly name: string;
      /** Base64. */
      readonly data: string;
    };

/** Precedes the input of a turn that was parked at a usage limit after the agent had started. */
const CONTINUE_PROMPT = "The usage limit that stopped you has reset. Continue what you were doing. The request was:";

/** An attachment that the program does not accept becomes text that names it. */
export async function promptParts(
  { input, blob, continued }: Pick<TurnContext, "input" | "blob" | "continued">,
  acceptsMedia: (mediaType: string) => boolean = isImage,
): Promise<PromptPart[]> {
  const parts = await Promise.all(input.map((part) => toPromptPart(part, blob, acceptsMedia)));
  return continued === true ? [toTextPart(CONTINUE_PROMPT), ...parts] : parts;
}

/** Joins the parts for a program that accepts only text. */
export function promptText(parts: readonly PromptPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n\n");
}

export function toTextPart(text: string): PromptPart {
  return { type: "text", text };
}

function isImage(mediaType: string): boolean {
  return mediaType.startsWith("image/");
}

async function toPromptPart(
  part: InputPart,
  blob: TurnContext["blob"],
  acceptsMedia: (mediaType: string) => boolean,
): Promise<PromptPart> {
  if (part.type === "text") return toTextPart(part.text);
  const { mediaType, hash, name = hash } = part;
  const bytes = acceptsMedia(mediaType) ? await blob(hash) : undefined;
  if (bytes === undefined) return toTextPart(formatInput([part])); // a placeholder that names the attachment
  return { type: "attachment", mediaType, name, data: Buffer.from(bytes).toString("base64") };
}
