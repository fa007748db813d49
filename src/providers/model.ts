/** A model as the agent sees it: messages and tools in, a stream and then one whole reply out. No SDK type passes here. */
import { z } from "zod";
import type { BlobPart, InputPart, ToolSpec } from "../domain/index.ts";

export interface Model {
  /** `provider/model`. */
  readonly name: string;
  /** Tokens that a request and its reply may have together; undefined where nobody knows. */
  readonly contextSize?: number | undefined;
  /**
   * One try: yields text as it comes and the whole reply last. Throws a ProviderError that says what to do and whether
   * another try is worth it, or the abort reason.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal;
  /** The bytes of an input part; undefined where they are gone. */
  readonly blob: (hash: string) => Promise<Uint8Array | undefined>;
  /** The same for all requests that share a beginning: the session's id. */
  readonly cacheKey?: string | undefined;
  /** Ids of calls that are used up, beside those in `messages`. */
  readonly takenIds?: Iterable<string> | undefined;
  /** What the model is left to choose where it is not said. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** Of a call, which comes whole with the reply. */
  | { readonly type: "piece" }
  | { readonly type: "reply"; readonly reply: ModelReply };

export type Message =
  | { readonly role: "user"; readonly parts: readonly InputPart[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ModelCall[];
      /** What the model gave, to be given back unchanged to the same model. */
      readonly native?: unknown;
    }
  | { readonly role: "tool"; readonly results: readonly ToolAnswer[] };

export interface ToolAnswer {
  readonly toolId: string;
  readonly name: string;
  readonly text: string;
  readonly failed: boolean;
  /** What came with the text; images among them are given where the model takes them. */
  readonly blobs?: readonly BlobPart[] | undefined;
}

const modelCall = () =>
  z.object({
    /** Unique in the conversation, although some servers repeat theirs. */
    toolId: z.string(),
    name: z.string(),
    input: z.unknown(),
    /** Why the call cannot be run as it is: arguments that are not JSON, or do not fit. */
    invalid: z.string().optional(),
  });
export type ModelCall = z.infer<ReturnType<typeof modelCall>>;

/** Read back only after a crash, so built only then. */
export const ModelReply = z.lazy(() =>
  z.object({
    text: z.string(),
    calls: z.array(modelCall()),
    stopReason: z.string(),
    usage: z.object({
      /** All of it, cached or not. */
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
