/** Converts the parts of a prompt to ACP content blocks. */
import type { schema } from "../../acp/index.ts";
import type { PromptPart } from "../program/index.ts";

type Block = schema.ContentBlock;

/** Whether the agent accepts an attachment of the type in a prompt. */
export function acceptsAttachment(mediaType: string, capabilities: schema.PromptCapabilities): boolean {
  return chooseBlockType(mediaType, capabilities) !== undefined;
}

/** Requires an attachment that the agent accepts. */
export function toContentBlock(part: PromptPart, capabilities: schema.PromptCapabilities): Block {
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType: mimeType, name } = part;
  const type = chooseBlockType(mimeType, capabilities);
  if (type === "image" || type === "audio") return { type, data, mimeType };
  return { type: "resource", resource: { uri: `rookery:${name}`, blob: data, mimeType } };
}

function chooseBlockType(
  mediaType: string,
  { image, audio, embeddedContext }: schema.PromptCapabilities,
): "image" | "audio" | "resource" | undefined {
  if (mediaType.startsWith("image/") && image === true) return "image";
  if (mediaType.startsWith("audio/") && audio === true) return "audio";
  return embeddedContext === true ? "resource" : undefined;
}
