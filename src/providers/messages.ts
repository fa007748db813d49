/**
 * Converts messages into the SDK's format. The same messages always produce the same bytes, so that prompts can be
 * cached.
 */
import type { LanguageModelV3Message, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import type { BlobPart, InputPart } from "../domain/index.ts";
import { mapInLoopSlices } from "../stdx/index.ts";
import { attachmentName, type LoadedImages } from "./images.ts";
import type { CompletionMessage, ToolAnswer } from "../domain/model.ts";
import { wellFormed } from "./well-formed.ts";

/**
 * An assistant message in the format of its model, with parts that our format lacks, such as signed thoughts. Other
 * models of the same provider may reject it.
 */
export interface NativeMessage extends ModelOrigin {
  readonly content: AssistantContent;
}

export interface ModelOrigin {
  readonly provider: string;
  readonly model: string;
}

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
export type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** Converts the messages. An attachment that is not among `images` is replaced by its name. */
export function toPrompt(
  messages: readonly CompletionMessage[],
  target: ModelOrigin,
  images: LoadedImages,
): Promise<LanguageModelV3Message[]> {
  return mapInLoopSlices(messages, (message) => wellFormed(toMessage(message, target, images)));
}

/** The text that replaces an attachment that cannot be sent. */
export function missingAttachmentText(part: BlobPart): string {
  return `[attachment not available to you: ${attachmentName(part)}]`;
}

function toMessage(message: CompletionMessage, target: ModelOrigin, images: LoadedImages): LanguageModelV3Message {
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
          output: toToolOutput(answer, images),
        })),
      };
  }
}

/** The result text already names its attachments, so missing ones need no replacement. */
function toToolOutput({ text, failed, blobs = [] }: ToolAnswer, images: LoadedImages): LanguageModelV3ToolResultOutput {
  if (failed) return { type: "error-text", value: text };
  const given = blobs.flatMap(({ hash, mediaType }) => {
    const bytes = images.get(hash);
    return bytes === undefined
      ? []
      : [{ type: "image-data" as const, data: base64(bytes), mediaType: detectMediaType(bytes, mediaType) }];
  });
  if (given.length === 0) return { type: "text", value: text };
  return { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...given] };
}

/** Joins adjacent texts. */
function userContent(parts: readonly InputPart[], images: LoadedImages): UserContent {
  const content: UserContent = [];
  for (const part of parts) {
    const image = part.type === "blob" ? images.get(part.hash) : undefined;
    if (part.type === "blob" && image !== undefined) {
      content.push({ type: "file", data: image, mediaType: detectMediaType(image, part.mediaType) });
      continue;
    }
    const text = part.type === "text" ? part.text : missingAttachmentText(part);
    const last = content.at(-1);
    if (last?.type === "text") last.text += `\n${text}`;
    else content.push({ type: "text", text });
  }
  return content;
}

function assistantContent(
  { text, calls, native }: Extract<CompletionMessage, { role: "assistant" }>,
  target: ModelOrigin,
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

function isNative(native: unknown, target: ModelOrigin): native is NativeMessage {
  if (typeof native !== "object" || native === null) return false;
  const { provider, model, content } = native as Partial<NativeMessage>;
  return provider === target.provider && model === target.model && Array.isArray(content) && content.length > 0;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Prefers the type in the bytes to the declared one, because providers check the bytes. */
function detectMediaType(bytes: Uint8Array, declaredType: string): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 12)).toString("latin1");
  if (start.startsWith("\x89PNG")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF8")) return "image/gif";
  return start.startsWith("RIFF") && start.endsWith("WEBP") ? "image/webp" : declaredType;
}
