/** What the scripted model received, in words that are the same on every wire. */

import type { WireName } from "./wires/wire-name.ts";

export interface ModelRequest extends ModelConversation {
  readonly wire: WireName;
  /** Without the query, which may hold a key. */
  readonly path: string;
  /** The JSON as it was sent. */
  readonly body: unknown;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In lower case; a header that carries a secret says only `(present)`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the last message in which the user said something. */
  readonly lastUserText: string;
  /** The results that arrived since the model last spoke. */
  readonly toolResults: readonly ModelToolResult[];
}

/** What a wire reads out of a request body. */
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
  /** Always false on the two OpenAI wires, which cannot say it. */
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

/** Adds what follows from the messages, and the tool names that some wires leave out of results. */
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

/** The text in a string, in a list of parts, or, for anything else, its JSON. */
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
