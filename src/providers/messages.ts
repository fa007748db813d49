/** Our messages in the AI SDK's form. */
import type { AssistantContent, ModelMessage, ToolContent, UserContent } from "ai";
import type { BlobPart, InputPart } from "../domain/index.ts";
import { nameOf, type Images } from "./images.ts";
import type { Message, ToolAnswer } from "./model.ts";
import { wellFormed } from "./well-formed.ts";

/**
 * An assistant message as its model gave it, with what our own form has no place for (signed thoughts). Another model
 * of the same provider may refuse it.
 */
export interface Native extends Origin {
  readonly content: Exclude<AssistantContent, string>;
}

export interface Origin {
  readonly provider: string;
  readonly model: string;
}

/** Of the attachments only those among `images` are given; of the others the model is told that they were there. */
export function toModelMessages(messages: readonly Message[], target: Origin, images: Images): ModelMessage[] {
  return messages.map((message): ModelMessage => wellFormed(toModelMessage(message, target, images)));
}

/** What a model is told of an attachment in its place. */
export function notGiven(part: BlobPart): string {
  return `[not given to you: ${nameOf(part)}]`;
}

function toModelMessage(message: Message, target: Origin, images: Images): ModelMessage {
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

type Output = Extract<ToolContent[number], { type: "tool-result" }>["output"];

/** The text names what came with it, so that nothing is said of what cannot be given. */
function outputOf({ text, failed, blobs = [] }: ToolAnswer, images: Images): Output {
  if (failed) return { type: "error-text", value: text };
  const given = blobs.flatMap(({ hash, mediaType }) => {
    const bytes = images.get(hash);
    return bytes === undefined
      ? []
      : [{ type: "image-data" as const, data: Buffer.from(bytes).toString("base64"), mediaType }];
  });
  if (given.length === 0) return { type: "text", value: text };
  return { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...given] };
}

/** Texts that stand together are one. */
function userContent(parts: readonly InputPart[], images: Images): UserContent {
  const content: Exclude<UserContent, string> = [];
  for (const part of parts) {
    const image = part.type === "blob" ? images.get(part.hash) : undefined;
    if (part.type === "blob" && image !== undefined) {
      content.push({ type: "image", image, mediaType: part.mediaType }); // what the bytes say counts more
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
): Exclude<AssistantContent, string> {
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
