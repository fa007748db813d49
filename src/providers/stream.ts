/** Any model of the AI SDK as a Model of ours: one step, streamed; the loop over steps is the agent's. */
import { jsonSchema, streamText, tool, type LanguageModel, type LanguageModelUsage, type ToolSet } from "ai";
import { RookeryError, type ToolSpec } from "../domain/index.ts";
import { providerError, type Endpoint } from "./errors.ts";
import { loadImages, type ImageLimits } from "./images.ts";
import { toModelMessages, type Native } from "./messages.ts";
import type { Message, Model, ModelCall, ModelPart, ModelReply, ModelRequest } from "./model.ts";

/** Before the first byte only; what broke later is told to the agent. */
const RETRIES = 2;

/** `images` is what it takes of them; none if not said. */
export function streamedModel(
  model: Exclude<LanguageModel, string>,
  endpoint: Endpoint & { readonly images?: ImageLimits },
): Model {
  return {
    name: `${endpoint.provider}/${endpoint.model}`,
    async *stream(request) {
      try {
        yield* streamStep(model, endpoint, request);
      } catch (error) {
        request.signal.throwIfAborted();
        throw providerError(error, endpoint);
      }
    },
  };
}

async function* streamStep(
  model: Exclude<LanguageModel, string>,
  { provider, model: modelId, images }: Endpoint & { readonly images?: ImageLimits },
  request: ModelRequest,
): AsyncIterable<ModelPart> {
  const { system, messages, tools, signal, blob, maxTokens, temperature, stopSequences } = request;
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false; // stdout is ours
  const result = streamText({
    model,
    system: system.toWellFormed(),
    messages: toModelMessages(messages, { provider, model: modelId }, await loadImages({ messages, blob }, images)),
    tools: toToolSet(tools),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    maxRetries: RETRIES,
    abortSignal: signal,
    onError: () => undefined, // it would print; the error is thrown below
  });
  const calls: ModelCall[] = [];
  const ids = new CallIds(messages);
  let text = "";
  let finish: { stopReason: string; usage: ModelReply["usage"] } | undefined;
  for await (const part of result.fullStream) {
    switch (part.type) {
      case "text-delta":
        text += part.text;
        yield { type: "text", text: part.text };
        break;
      case "reasoning-delta":
        yield { type: "thought", text: part.text };
        break;
      case "tool-input-start":
      case "tool-input-delta":
        yield { type: "piece" };
        break;
      case "tool-call": {
        const invalid = part.invalid === true ? invalidReason(part.error) : undefined;
        const toolId = ids.unique(part.toolCallId);
        const input: unknown = part.input;
        calls.push({ toolId, name: part.toolName, input: asObject(input), ...(invalid !== undefined && { invalid }) });
        break;
      }
      case "finish-step":
        if (isFinished(part)) finish = { stopReason: part.finishReason, usage: usageOf(part.usage) };
        break;
      case "error":
        throw part.error;
      default: // starts, ends and the pieces of what arrives whole later
        break;
    }
  }
  signal.throwIfAborted();
  if (finish === undefined)
    throw new RookeryError("provider_failed", `${provider} ended its answer in the middle; try again`);
  const native: Native = { provider, model: modelId, content: await nativeContent(result, ids.given) };
  yield { type: "reply", reply: { text, calls, ...finish, native } };
}

/** Of a stream that just ends, the SDK (ai 6.0.326) makes a step that finished for another reason, which has no name. */
function isFinished({ finishReason, rawFinishReason }: { finishReason: string; rawFinishReason: string | undefined }) {
  return finishReason !== "other" || rawFinishReason !== undefined;
}

/** Some servers count their tool calls anew in each reply, or give two of them one id; a conversation needs ids that differ. */
class CallIds {
  readonly #used: Set<string>;
  /** In the order of the calls. */
  readonly given: string[] = [];

  constructor(messages: readonly Message[]) {
    this.#used = new Set(messages.flatMap((m) => (m.role === "assistant" ? m.calls.map((call) => call.toolId) : [])));
  }

  unique(id: string): string {
    let free = id;
    for (let count = 2; this.#used.has(free); count += 1) free = `${id}_${count}`;
    this.#used.add(free);
    this.given.push(free);
    return free;
  }
}

async function nativeContent(
  result: { readonly response: PromiseLike<{ messages: { role: string; content: unknown }[] }> },
  ids: readonly string[],
): Promise<Native["content"]> {
  const { messages } = await result.response;
  const content = messages.find((message) => message.role === "assistant")?.content;
  if (!Array.isArray(content)) return [];
  let calls = 0;
  return (content as Native["content"]).map((part) =>
    part.type === "tool-call"
      ? { ...part, toolCallId: ids[calls++] ?? part.toolCallId, input: asObject(part.input) }
      : part,
  );
}

/** Providers take only an object back as a call's arguments, whatever their model wrote. */
function asObject(input: unknown): unknown {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : { invalid_input: input };
}

function invalidReason(error: unknown): string {
  return error instanceof Error
    ? (error.message.split("\n")[0] ?? "").slice(0, 500).toWellFormed()
    : "the arguments cannot be read";
}

function toToolSet(tools: readonly ToolSpec[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]) }),
    ]),
  );
}

function usageOf({ inputTokens, inputTokenDetails, outputTokens, outputTokenDetails }: LanguageModelUsage) {
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: inputTokenDetails.cacheReadTokens ?? 0,
    cacheWriteTokens: inputTokenDetails.cacheWriteTokens ?? 0,
    reasoningTokens: outputTokenDetails.reasoningTokens ?? 0,
  };
}
