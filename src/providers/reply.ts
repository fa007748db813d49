/** Puts the pieces of a streamed reply together: what it says, the calls it makes, and its own form for giving it back. */
import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { AssistantContent } from "./messages.ts";
import type { Message, ModelCall, ModelPart, ModelReply } from "./model.ts";
import { ProviderError } from "./provider-error.ts";

type Piece = { type: "text" | "reasoning"; text: string[]; providerOptions?: SharedV3ProviderMetadata };
type Call = Extract<AssistantContent[number], { type: "tool-call" }>;
type Finish = Extract<LanguageModelV3StreamPart, { type: "finish" }>;

/** In characters: many times what any model writes at once, and little enough for the log to take it twice. */
export const LONGEST_REPLY = 16 * 1024 * 1024;

export class ReplyBuilder {
  readonly #pieces: (Piece | Call)[] = [];
  readonly #open = new Map<string, Piece>();
  readonly #calls: ModelCall[] = [];
  readonly #text: string[] = [];
  readonly #used: Set<string>;
  /** The last number that was put behind an id: a reply may give one id to thousands of calls. */
  readonly #counts = new Map<string, number>();
  #finish: Finish | undefined;
  #length = 0;

  /** The conversation so far: a call must not have the id of an earlier one, nor one that is taken otherwise. */
  constructor(messages: readonly Message[], takenIds: Iterable<string> = []) {
    this.#used = new Set(takenIds);
    for (const message of messages) {
      if (message.role === "assistant") for (const { toolId } of message.calls) this.#used.add(toolId);
    }
  }

  /** What of it is shown at once. Throws where it has become longer than any reply. */
  add(part: LanguageModelV3StreamPart): ModelPart | undefined {
    if ("delta" in part) this.#length += part.delta.length;
    if (part.type === "tool-call") this.#length += part.input.length; // some providers give it whole, without pieces
    if (this.#length > LONGEST_REPLY) {
      const message = `the answer is longer than ${LONGEST_REPLY} characters, and was broken off: ask for less at once`;
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
        this.#open.delete(`${type} ${part.id}`); // some providers use an id again
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
      default: // what nobody asked for: sources, files, tools of the provider's own
        return undefined;
    }
  }

  /** Undefined where the stream ended before the reply did: a finish that nobody gave has no name of its own. */
  get finished(): { readonly reason: string; readonly raw: string | undefined } | undefined {
    if (this.#finish === undefined) return undefined;
    const { unified, raw } = this.#finish.finishReason;
    return unified === "other" && raw === undefined ? undefined : { reason: unified, raw };
  }

  /** After the end: JSON, so that it is given back in the same bytes after a crash. */
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
    return { text: this.#text.join(""), calls: this.#calls, stopReason, usage: usageOf(this.#finish?.usage), native };
  }

  /** What comes later about a piece counts: a signature comes last. */
  #piece(type: Piece["type"], id: string, metadata: SharedV3ProviderMetadata | undefined): Piece {
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
    const { input, invalid } = argumentsOf(part.input);
    this.#calls.push({ toolId, name: toolName, input, ...(invalid !== undefined && { invalid }) });
    const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
    this.#pieces.push({ type: "tool-call", toolCallId: toolId, toolName, input, ...options });
  }

  /** Some servers count their calls anew in each reply, or give two of them one id; a conversation needs ids that differ. */
  #unique(id: string): string {
    let free = id;
    let count = this.#counts.get(id) ?? 1;
    while (this.#used.has(free)) free = `${id}_${(count += 1)}`;
    this.#counts.set(id, count);
    this.#used.add(free);
    return free;
  }
}

/** Providers take only an object back as a call's arguments, whatever their model wrote. */
function argumentsOf(written: string): { readonly input: unknown; readonly invalid?: string } {
  if (written.trim() === "") return { input: {} };
  let input: unknown;
  try {
    input = JSON.parse(written);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 300).toWellFormed() : "it cannot be read";
    return { input: { invalid_input: written }, invalid: `the arguments are not JSON: ${why}` };
  }
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input };
  return { input: { invalid_input: input }, invalid: "the arguments are not a JSON object" };
}

function usageOf(usage: LanguageModelV3Usage | undefined): ModelReply["usage"] {
  return {
    inputTokens: usage?.inputTokens.total ?? 0,
    outputTokens: usage?.outputTokens.total ?? 0,
    cacheReadTokens: usage?.inputTokens.cacheRead ?? 0,
    cacheWriteTokens: usage?.inputTokens.cacheWrite ?? 0,
    reasoningTokens: usage?.outputTokens.reasoning ?? 0,
  };
}
