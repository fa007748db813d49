/**
 * The port of models and their providers: messages and tools in, a stream of parts and a complete reply out. A program
 * registers providers of its own with `Rookery.open({ providers })`.
 */
import { z } from "zod";
import type { BlobPart, InputPart } from "./events.ts";
import type { Effort } from "./provider.ts";
import type { ToolSpec } from "./tools.ts";

/** A provider of models, which an agent uses with `model = "NAME/MODEL"`. */
export interface Provider {
  /** At most 50 letters, digits, `-`, `_` and `.`. The names of built-in providers are taken. */
  readonly name: string;
  /**
   * Opens a model of this provider without sending anything. Called when an agent is opened. Throws a `RookeryError` that
   * says what is missing: `provider_unconfigured` for a key, `model_not_found` for a model.
   */
  open(model: string, options: ProviderOpenOptions): Model | Promise<Model>;
}

export interface ProviderOpenOptions {
  /** The environment of the agent, with the variables of its configuration and of the caller. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the model decides. */
  readonly effort: Effort | undefined;
  /** The URL that the configuration or the caller chose for the agent. */
  readonly baseUrl: string | undefined;
  /** The key that the caller passed. */
  readonly apiKey: string | undefined;
}

/** USD per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Default: the price of input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** Factors for the whole request if its input exceeds `over` tokens. */
  readonly long?: { readonly over: number; readonly input: number; readonly output: number } | undefined;
}

export interface Model {
  /** `provider/model`. */
  readonly name: string;
  /** Default: that of the configuration or of the table of known models. Without a price, the cost is unknown. */
  readonly price?: ModelPrice | undefined;
  /** Tokens for a request and its reply together. Undefined if unknown. */
  readonly contextSize?: number | undefined;
  /**
   * Makes one attempt. Yields text as it arrives and the complete reply last. Throws a `ProviderError`, which says what
   * to do and whether to retry, or the abort reason.
   */
  stream(request: CompletionRequest): AsyncIterable<ModelPart>;
}

export interface CompletionRequest {
  readonly system: string;
  readonly messages: readonly CompletionMessage[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal;
  /** Reads the bytes of a blob. Resolves with undefined if they are missing. */
  readonly blob: (hash: string) => Promise<Uint8Array | undefined>;
  /** Shared by all requests that begin the same way. Default of an agent: the session id. */
  readonly cacheKey?: string | undefined;
  /** Call ids that must not be reused, in addition to those in `messages`. */
  readonly takenIds?: Iterable<string> | undefined;
  /** Default: the model decides. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** A piece of a call. The whole call comes with the reply. */
  | { readonly type: "piece" }
  | { readonly type: "reply"; readonly reply: ModelReply };

export type CompletionMessage =
  | { readonly role: "user"; readonly parts: readonly InputPart[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ModelCall[];
      /** The message as the model sent it. Sent back unchanged to the same model. */
      readonly native?: unknown;
    }
  | { readonly role: "tool"; readonly results: readonly ToolAnswer[] };

export interface ToolAnswer {
  readonly toolId: string;
  readonly name: string;
  readonly text: string;
  readonly failed: boolean;
  /** Attachments of the text. Images are sent if the model accepts them. */
  readonly blobs?: readonly BlobPart[] | undefined;
}

const modelCall = () =>
  z.object({
    /** Unique in the conversation, even if the server repeats ids. */
    toolId: z.string(),
    name: z.string(),
    input: z.unknown(),
    /** Why the call cannot run: its arguments are not JSON, or do not match the schema. */
    invalid: z.string().optional(),
  });
export type ModelCall = z.infer<ReturnType<typeof modelCall>>;

/** Lazy, because it is needed only after a crash. */
export const ModelReply = z.lazy(() =>
  z.object({
    text: z.string(),
    calls: z.array(modelCall()),
    stopReason: z.string(),
    usage: z.object({
      /** All input tokens, cached or not. */
      inputTokens: z.number(),
      outputTokens: z.number(),
      cacheReadTokens: z.number(),
      cacheWriteTokens: z.number(),
      reasoningTokens: z.number(),
    }),
    native: z.unknown(),
  }),
);
export type ModelReply = z.infer<typeof ModelReply>;
