/** Wraps a model of the SDK. It makes one streamed attempt; the agent repeats steps and retries. */
import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
} from "@ai-sdk/provider";
import type { ToolSpec } from "../domain/index.ts";
import { addCacheMarkers, cacheHeaders, cacheOptions } from "./caching.ts";
import type { ModelEndpoint } from "./endpoint.ts";
import { toInternalError, isInternalDefect, toProviderError } from "./errors.ts";
import { loadImages, type ImageLimits } from "./images.ts";
import { OPTION_KEYS } from "./load.ts";
import { toPrompt, type NativeMessage } from "./messages.ts";
import type { Model, ModelPart, CompletionRequest } from "../domain/model.ts";
import { ProviderError } from "../domain/provider-error.ts";
import { ReplyBuilder } from "./reply.ts";

export interface StreamedModelOptions {
  readonly endpoint: ModelEndpoint;
  readonly load: () => Promise<LanguageModelV3>;
  /** The images that the provider accepts. Undefined: none. */
  readonly images: ImageLimits | undefined;
  /** Provider options for each request. */
  readonly options: JSONObject;
  readonly contextSize: number | undefined;
  readonly now: () => number;
}

export function makeStreamedModel(streamed: StreamedModelOptions): Model {
  const { endpoint, contextSize, now } = streamed;
  return {
    name: `${endpoint.provider}/${endpoint.model}`,
    contextSize,
    async *stream(request) {
      let isReplying = false;
      try {
        yield* streamStep(streamed, request, () => (isReplying = true));
      } catch (error) {
        request.signal.throwIfAborted();
        if (!isReplying && isInternalDefect(error)) throw toInternalError(error, endpoint);
        throw toProviderError(error, endpoint, now);
      }
    },
  };
}

async function* streamStep(
  streamed: StreamedModelOptions,
  request: CompletionRequest,
  onReply: () => void,
): AsyncIterable<ModelPart> {
  const { provider, model: modelId } = streamed.endpoint;
  const { signal, messages, takenIds } = request;
  const model = await streamed.load();
  const { stream } = await model.doStream(await callOptions(streamed, request));
  onReply(); // from here on, the reply is the cause of a failure: deep nesting exhausts the stack of the SDK's parser
  const reply = new ReplyBuilder(messages, takenIds);
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    const shown = reply.add(part);
    if (shown !== undefined) yield shown;
  }
  signal.throwIfAborted();
  const { finished } = reply;
  if (finished === undefined || finished.reason === "error") {
    const how = finished?.raw === undefined ? "early" : `with ${finished.raw}`;
    throw new ProviderError("provider_failed", `${provider} ended its reply ${how}; try again`, { retry: {} });
  }
  const native: NativeMessage = { provider, model: modelId, content: reply.content() };
  yield { type: "reply", reply: reply.reply(native) };
}

async function callOptions(
  { endpoint, images, options }: StreamedModelOptions,
  { system, messages, tools, signal, blob, cacheKey, maxTokens, temperature, stopSequences }: CompletionRequest,
): Promise<LanguageModelV3CallOptions> {
  const given = await loadImages({ messages, blob }, images);
  const instructions = system === "" ? [] : [{ role: "system" as const, content: system.toWellFormed() }];
  const prompt = [...instructions, ...(await toPrompt(messages, endpoint, given))];
  return {
    prompt: addCacheMarkers(endpoint.kind, prompt),
    ...(tools.length > 0 && { tools: tools.map(toTool), toolChoice: { type: "auto" } }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    providerOptions: { [OPTION_KEYS[endpoint.kind]]: { ...options, ...cacheOptions(endpoint.kind, cacheKey) } },
    headers: cacheHeaders(endpoint.provider, cacheKey),
    abortSignal: signal,
  };
}

function toTool({ name, description, inputSchema }: ToolSpec): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name,
    description,
    inputSchema: inputSchema,
  };
}
