/** Our messages in the SDK's form: the same bytes for the same messages, whatever comes after them. */
import type { LanguageModelV3Message, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import type { BlobPart, InputPart } from "../domain/index.ts";
import { mapInLoopSlices } from "../stdx/index.ts";
import { nameOf, type Images } from "./images.ts";
import type { Message, ToolAnswer } from "./model.ts";
import { wellFormed } from "./well-formed.ts";

/**
 * An assistant message as its model gave it, with what our own form has no place for (signed thoughts). Another model
 * of the same provider may refuse it.
 */
export interface Native extends Origin {
  readonly content: AssistantContent;
}

export interface Origin {
  readonly provider: string;
  readonly model: string;
}

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
export type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** Of the attachments only those among `images` are given; of the others the model is told that they were there. */
export function toPrompt(
  messages: readonly Message[],
  target: Origin,
  images: Images,
): Promise<LanguageModelV3Message[]> {
  return mapInLoopSlices(messages, (message) => wellFormed(toMessage(message, target, images)));
}

/** What a model is told of an attachment in its place. */
export function notGiven(part: BlobPart): string {
  return `[not given to you: ${nameOf(part)}]`;
}

function toMessage(message: Message, target: Origin, images: Images): LanguageModelV3Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: userContent(message.parts, images) };
    case "assistant":
      return { role: "assistant", content: assistantContent(message, target) };
    case "tool":
      return {
        role: "tool",
        content: message.results.map((answer) => ({
          type: "tool-result",
          toolCallId: answer.toolId,
          toolName: answer.name,
          output: outputOf(answer, images),
        })),
      };
  }
}

/** The text names what came with it, so that nothing is said of what cannot be given. */
function outputOf({ text, failed, blobs = [] }: ToolAnswer, images: Images): LanguageModelV3ToolResultOutput {
  if (failed) return { type: "error-text", value: text };
  const given = blobs.flatMap(({ hash, mediaType }) => {
    const bytes = images.get(hash);
    return bytes === undefined
      ? []
      : [{ type: "image-data" as const, data: base64(bytes), mediaType: typeOf(bytes, mediaType) }];
  });
  if (given.length === 0) return { type: "text", value: text };
  return { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...given] };
}

/** Texts that stand together are one. */
function userContent(parts: readonly InputPart[], images: Images): UserContent {
  const content: UserContent = [];
  for (const part of parts) {
    const image = part.type === "blob" ? images.get(part.hash) : undefined;
    if (part.type === "blob" && image !== undefined) {
      content.push({ type: "file", data: image, mediaType: typeOf(image, part.mediaType) });
      continue;
    }
    const text = part.type === "text" ? part.text : notGiven(part);
    const last = content.at(-1);
    if (last?.type === "text") last.text += `\n${text}`;
    else content.push({ type: "text", text });
  }
  return content;
}

function assistantContent(
  { text, calls, native }: Extract<Message, { role: "assistant" }>,
  target: Origin,
): AssistantContent {
  if (isNative(native, target)) return native.content;
  return [
    ...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.toolId,
      toolName: call.name,
      input: call.input,
    })),
  ];
}

function isNative(native: unknown, target: Origin): native is Native {
  if (typeof native !== "object" || native === null) return false;
  const { provider, model, content } = native as Partial<Native>;
  return provider === target.provider && model === target.model && Array.isArray(content) && content.length > 0;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** What the bytes say counts more than what was said of them: providers look. */
function typeOf(bytes: Uint8Array, said: string): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 12)).toString("latin1");
  if (start.startsWith("\x89PNG")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF8")) return "image/gif";
  return start.startsWith("RIFF") && start.endsWith("WEBP") ? "image/webp" : said;
}
