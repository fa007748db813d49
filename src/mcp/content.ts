/** What prompts and resources hold. */
import type { McpPart } from "../domain/index.ts";
import { readBlock } from "./calls/result.ts";

/** Of a prompt's messages. The assistant's are marked, because all of it becomes one input. */
export function readPrompt(raw: Record<string, unknown>): McpPart[] {
  const messages = Array.isArray(raw["messages"]) ? (raw["messages"] as unknown[]) : [];
  return messages.flatMap((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    const parts = [content].flat().flatMap(partOf);
    return role === "assistant" ? [{ type: "text" as const, text: "Assistant:" }, ...parts] : parts;
  });
}

/** Of a resource's contents. */
export function readContents(raw: Record<string, unknown>): McpPart[] {
  const contents = Array.isArray(raw["contents"]) ? (raw["contents"] as unknown[]) : [];
  return contents.flatMap((resource) => partOf({ type: "resource", resource }));
}

function partOf(raw: unknown): McpPart[] {
  const block = readBlock(raw);
  switch (block?.type) {
    case undefined:
      return [];
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
    case "audio":
      return [{ type: "bytes", bytes: Buffer.from(block.data, "base64"), mediaType: block.mimeType }];
    case "resource": {
      const { uri, text, blob, mimeType: mediaType = "application/octet-stream" } = block.resource;
      if (blob === undefined) return [{ type: "text", text: text ?? "", uri }];
      return [{ type: "bytes", bytes: Buffer.from(blob, "base64"), mediaType, uri }];
    }
    case "resource_link":
      return [{ type: "text", text: `[the resource ${block.uri}]`, uri: block.uri }];
  }
}
