/** Reads the content of prompts and resources. */
import type { McpPart } from "../domain/index.ts";
import { readBlock } from "./calls/result.ts";

/** Reads the messages of a prompt. Assistant messages are marked, because everything becomes one input. */
export function readPromptContent(raw: Record<string, unknown>): McpPart[] {
  const messages = Array.isArray(raw["messages"]) ? (raw["messages"] as unknown[]) : [];
  return messages.flatMap((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    const parts = [content].flat().flatMap(toMcpParts);
    return role === "assistant" ? [{ type: "text" as const, text: "Assistant:" }, ...parts] : parts;
  });
}

/** Reads the contents of a resource. */
export function readResourceContent(raw: Record<string, unknown>): McpPart[] {
  const contents = Array.isArray(raw["contents"]) ? (raw["contents"] as unknown[]) : [];
  return contents.flatMap((resource) => toMcpParts({ type: "resource", resource }));
}

function toMcpParts(raw: unknown): McpPart[] {
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
      return [{ type: "text", text: `[resource ${block.uri}]`, uri: block.uri }];
  }
}
