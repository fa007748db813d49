/** What is said to a program: texts, and pictures where there are any. */
import { textOf, type InputPart, type TurnContext } from "../../domain/index.ts";

export type PromptPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; /** Base64. */ readonly data: string };

/** Told instead of the input where the turn was parked and the agent had begun. */
export const GO_ON = "The usage limit that stopped you is over. Go on with what you were doing. It was asked:";

export async function promptParts({ input, blob, continued }: Pick<TurnContext, "input" | "blob" | "continued">) {
  const parts = await Promise.all(input.map((part) => partOf(part, blob)));
  return continued === true ? [text(GO_ON), ...parts] : parts;
}

/** For a program that takes nothing but text. */
export function promptText(parts: readonly PromptPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n\n");
}

export function text(text: string): PromptPart {
  return { type: "text", text };
}

async function partOf(part: InputPart, blob: TurnContext["blob"]): Promise<PromptPart> {
  if (part.type === "text") return text(part.text);
  const bytes = part.mediaType.startsWith("image/") ? await blob(part.hash) : undefined;
  if (bytes === undefined) return text(textOf([part])); // that there was something is better than nothing
  return { type: "image", mediaType: part.mediaType, data: Buffer.from(bytes).toString("base64") };
}
