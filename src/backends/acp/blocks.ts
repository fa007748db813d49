/** Converts user input to ACP content blocks. Attachments that the agent does not accept become text. */
import { formatInput, type InputPart, type TurnContext } from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";
import { CONTINUE_PROMPT } from "../program/prompt.ts";

type Block = schema.ContentBlock;

export async function toPromptBlocks(
  { input, blob, continued }: Pick<TurnContext, "input" | "blob" | "continued">,
  takes: schema.PromptCapabilities = {},
): Promise<Block[]> {
  const blocks = await Promise.all(input.map((part) => toContentBlock(part, blob, takes)));
  return continued === true ? [{ type: "text", text: CONTINUE_PROMPT }, ...blocks] : blocks;
}

async function toContentBlock(
  part: InputPart,
  blob: TurnContext["blob"],
  takes: schema.PromptCapabilities,
): Promise<Block> {
  if (part.type === "text") return { type: "text", text: part.text };
  const bytes = await blob(part.hash);
  const data = bytes === undefined ? undefined : Buffer.from(bytes).toString("base64");
  const { mediaType: mimeType, name = part.hash } = part;
  if (data !== undefined && mimeType.startsWith("image/") && takes.image === true)
    return { type: "image", data, mimeType };
  if (data !== undefined && mimeType.startsWith("audio/") && takes.audio === true)
    return { type: "audio", data, mimeType };
  if (data !== undefined && takes.embeddedContext === true) {
    return { type: "resource", resource: { uri: `rookery:${name}`, blob: data, mimeType } };
  }
  return { type: "text", text: formatInput([part]) }; // a placeholder that names the attachment
}
