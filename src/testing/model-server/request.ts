/** A request to the scripted model, in a form that is the same for every wire. */

import type { WireName } from "./wires/wire-name.ts";

export interface ModelRequest extends ModelConversation {
  readonly wire: WireName;
  /** Without the query, which may hold a key. */
  readonly path: string;
  /** The parsed JSON body. */
  readonly body: unknown;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Names are in lower case. The value of a secret header is `(present)`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the last user message that has text. */
  readonly lastUserText: string;
  /** The tool results after the last message of the model. */
  readonly toolResults: readonly ModelToolResult[];
}

/** The fields that a wire parses from a request body. */
export interface ModelConversation {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly ModelMessage[];
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly toolResults: readonly ModelToolResult[];
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ModelToolResult {
  readonly id: string;
  readonly name: string;
  readonly content: string;
  /** Always false on the two OpenAI wires, which have no such field. */
  readonly isError: boolean;
}

const SECRET_HEADERS = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
]);

/** Adds the derived fields, and the tool names that some wires omit from results. */
export function toModelRequest(
  conversation: ModelConversation,
  received: Pick<ModelRequest, "wire" | "path" | "body" | "at" | "headers">,
): ModelRequest {
  const messages = withToolNames(conversation.messages);
  return {
    ...received,
    ...conversation,
    messages,
    lastUserText: messages.findLast((message) => message.role === "user" && message.text !== "")?.text ?? "",
    toolResults: messages
      .slice(messages.findLastIndex((message) => message.role === "assistant") + 1)
      .flatMap((message) => message.toolResults),
  };
}

export function toModelMessage(role: ModelMessage["role"], parts: Partial<Omit<ModelMessage, "role">>): ModelMessage {
  return { role, text: "", toolCalls: [], toolResults: [], ...parts };
}

/** Returns the text of a string or of a list of parts, and the JSON of anything else. */
export function toContentText(content: unknown): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(partText).join("");
  return JSON.stringify(content);
}

export function maskSecretHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADERS.has(name) ? "(present)" : String(value)]),
  );
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  const text = typeof part === "object" && part !== null && "text" in part ? part.text : undefined;
  return typeof text === "string" ? text : "";
}

function withToolNames(messages: readonly ModelMessage[]): ModelMessage[] {
  const names = new Map(messages.flatMap((said) => said.toolCalls.map((made) => [made.id, made.name] as const)));
  return messages.map((said) => ({
    ...said,
    toolResults: said.toolResults.map((result) => ({ ...result, name: result.name || (names.get(result.id) ?? "") })),
  }));
}
