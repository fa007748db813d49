/** Assembles a streamed reply: its text, its calls, and its native form for the next request. */
import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { includeParts } from "../domain/usage.ts";
import type { AssistantContent } from "./messages.ts";
import type { CompletionMessage, ModelCall, ModelPart, ModelReply } from "../domain/model.ts";
import { ProviderError } from "../domain/provider-error.ts";

type ReplyPiece = { type: "text" | "reasoning"; text: string[]; providerOptions?: SharedV3ProviderMetadata };
type Call = Extract<AssistantContent[number], { type: "tool-call" }>;
type Finish = Extract<LanguageModelV3StreamPart, { type: "finish" }>;

/** Many times longer than any real reply, and short enough to be logged twice. */
export const MAX_REPLY_CHARACTERS = 16 * 1024 * 1024;

export class ReplyBuilder {
  readonly #pieces: (ReplyPiece | Call)[] = [];
  readonly #open = new Map<string, ReplyPiece>();
  readonly #calls: ModelCall[] = [];
  readonly #text: string[] = [];
  readonly #used: Set<string>;
  /** The last suffix used for each id. A reply may repeat one id thousands of times. */
  readonly #counts = new Map<string, number>();
  #finish: Finish | undefined;
  #length = 0;

  /** New call ids must differ from those in the conversation and from `takenIds`. */
  constructor(messages: readonly CompletionMessage[], takenIds: Iterable<string> = []) {
    this.#used = new Set(takenIds);
    for (const message of messages) {
      if (message.role === "assistant") for (const { toolId } of message.calls) this.#used.add(toolId);
    }
  }

  /** Adds a part and returns what to show of it. Throws `provider_failed` if the reply is too long. */
  add(part: LanguageModelV3StreamPart): ModelPart | undefined {
    if ("delta" in part) this.#length += part.delta.length;
    if (part.type === "tool-call") this.#length += part.input.length; // some providers send a call without deltas
    if (this.#length > MAX_REPLY_CHARACTERS) {
      const message = `the reply is longer than ${MAX_REPLY_CHARACTERS} characters and was cut off: ask for less at once`;
      throw new ProviderError("provider_failed", message);
    }
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#piece(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
        return undefined;
      case "text-delta":
        this.#text.push(part.delta);
        this.#piece("text", part.id, part.providerMetadata).text.push(part.delta);
        return { type: "text", text: part.delta };
      case "reasoning-delta":
        this.#piece("reasoning", part.id, part.providerMetadata).text.push(part.delta);
        return part.delta === "" ? { type: "piece" } : { type: "thought", text: part.delta };
      case "text-end":
      case "reasoning-end": {
        const type = part.type === "text-end" ? "text" : "reasoning";
        this.#piece(type, part.id, part.providerMetadata);
        this.#open.delete(`${type} ${part.id}`); // some providers reuse ids
        return undefined;
      }
      case "tool-input-start":
      case "tool-input-delta":
        return { type: "piece" };
      case "tool-call":
        this.#call(part);
        return { type: "piece" };
      case "finish":
        this.#finish = part;
        return undefined;
      default: // not requested: sources, files, the provider's own tools
        return undefined;
    }
  }

  /**
   * Undefined if the stream ended before the reply was complete. The SDK reports that as "other" without a raw reason.
   */
  get finished(): { readonly reason: string; readonly raw: string | undefined } | undefined {
    if (this.#finish === undefined) return undefined;
    const { unified, raw } = this.#finish.finishReason;
    return unified === "other" && raw === undefined ? undefined : { reason: unified, raw };
  }

  /** Call after the end. Returns plain JSON, so that the bytes are the same after a crash. */
  content(): AssistantContent {
    const parts = this.#pieces.flatMap((piece): AssistantContent => {
      if (piece.type === "tool-call") return [piece];
      const text = piece.text.join("");
      return piece.type === "text" && text === "" && piece.providerOptions === undefined ? [] : [{ ...piece, text }];
    });
    return JSON.parse(JSON.stringify(parts)) as AssistantContent;
  }

  reply(native: unknown): ModelReply {
    const stopReason = this.finished?.reason ?? "other";
    return {
      text: this.#text.join(""),
      calls: this.#calls,
      stopReason,
      usage: toModelUsage(this.#finish?.usage),
      native,
    };
  }

  /** Later metadata replaces earlier metadata: a signature comes last. */
  #piece(type: ReplyPiece["type"], id: string, metadata: SharedV3ProviderMetadata | undefined): ReplyPiece {
    const key = `${type} ${id}`;
    let piece = this.#open.get(key);
    if (piece === undefined) {
      piece = { type, text: [] };
      this.#open.set(key, piece);
      this.#pieces.push(piece);
    }
    if (metadata !== undefined) piece.providerOptions = metadata;
    return piece;
  }

  #call(part: Extract<LanguageModelV3StreamPart, { type: "tool-call" }>): void {
    const { toolName, providerMetadata } = part;
    const toolId = this.#unique(part.toolCallId);
    const { input, invalid } = parseCallArguments(part.input);
    this.#calls.push({ toolId, name: toolName, input, ...(invalid !== undefined && { invalid }) });
    const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
    this.#pieces.push({ type: "tool-call", toolCallId: toolId, toolName, input, ...options });
  }

  /** Makes call ids unique, because some servers restart their count in each reply or reuse an id. */
  #unique(id: string): string {
    let free = id;
    let count = this.#counts.get(id) ?? 1;
    while (this.#used.has(free)) free = `${id}_${(count += 1)}`;
    this.#counts.set(id, count);
    this.#used.add(free);
    return free;
  }
}

/**
 * Parses the arguments of a call. Invalid arguments are wrapped, because providers accept only an object when a call is
 * sent back.
 */
function parseCallArguments(written: string): { readonly input: unknown; readonly invalid?: string } {
  if (written.trim() === "") return { input: {} };
  let input: unknown;
  try {
    input = JSON.parse(written);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 300).toWellFormed() : "it cannot be parsed";
    return { input: { invalid_input: written }, invalid: `the arguments are not valid JSON: ${why}` };
  }
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input };
  return { input: { invalid_input: input }, invalid: "the arguments are not a JSON object" };
}

function toModelUsage(usage: LanguageModelV3Usage | undefined): ModelReply["usage"] {
  return includeParts({
    inputTokens: usage?.inputTokens.total ?? 0,
    outputTokens: usage?.outputTokens.total ?? 0,
    cacheReadTokens: usage?.inputTokens.cacheRead ?? 0,
    cacheWriteTokens: usage?.inputTokens.cacheWrite ?? 0,
    reasoningTokens: usage?.outputTokens.reasoning ?? 0,
  });
}
