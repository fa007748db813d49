/** Any model of the SDK as a Model of ours: one step, streamed, tried once; the loop over steps and tries is the agent's. */
import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
} from "@ai-sdk/provider";
import type { ToolSpec } from "../domain/index.ts";
import { cacheOptions, withMarkers } from "./caching.ts";
import type { Endpoint } from "./endpoint.ts";
import { defect, isDefect, providerError } from "./errors.ts";
import { loadImages, type ImageLimits } from "./images.ts";
import { OPTIONS_OF } from "./load.ts";
import { toPrompt, type Native } from "./messages.ts";
import type { Model, ModelPart, ModelRequest } from "./model.ts";
import { ProviderError } from "./provider-error.ts";
import { ReplyBuilder } from "./reply.ts";

export interface Streamed {
  readonly endpoint: Endpoint;
  readonly load: () => Promise<LanguageModelV3>;
  /** What it takes of them; none if not said. */
  readonly images: ImageLimits | undefined;
  /** Of the SDK's provider, for each request. */
  readonly options: JSONObject;
  readonly contextSize: number | undefined;
  readonly now: () => number;
}

export function streamedModel(streamed: Streamed): Model {
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
        if (!isReplying && isDefect(error)) throw defect(error, endpoint);
        throw providerError(error, endpoint, now);
      }
    },
  };
}

async function* streamStep(streamed: Streamed, request: ModelRequest, onReply: () => void): AsyncIterable<ModelPart> {
  const { provider, model: modelId } = streamed.endpoint;
  const { signal, messages, takenIds } = request;
  const model = await streamed.load();
  const { stream } = await model.doStream(await callOptions(streamed, request));
  onReply(); // what fails from here on, the reply caused: a deep one exhausts the stack of the SDK's parser
  const reply = new ReplyBuilder(messages, takenIds);
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    const shown = reply.add(part);
    if (shown !== undefined) yield shown;
  }
  signal.throwIfAborted();
  const { finished } = reply;
  if (finished === undefined || finished.reason === "error") {
    const how = finished?.raw === undefined ? "in the middle" : `with ${finished.raw}`;
    throw new ProviderError("provider_failed", `${provider} ended its answer ${how}; try again`, { retry: {} });
  }
  const native: Native = { provider, model: modelId, content: reply.content() };
  yield { type: "reply", reply: reply.reply(native) };
}

async function callOptions(
  { endpoint, images, options }: Streamed,
  { system, messages, tools, signal, blob, cacheKey, maxTokens, temperature, stopSequences }: ModelRequest,
): Promise<LanguageModelV3CallOptions> {
  const given = await loadImages({ messages, blob }, images);
  const instructions = system === "" ? [] : [{ role: "system" as const, content: system.toWellFormed() }];
  const prompt = [...instructions, ...(await toPrompt(messages, endpoint, given))];
  return {
    prompt: withMarkers(endpoint.kind, prompt),
    ...(tools.length > 0 && { tools: tools.map(toTool), toolChoice: { type: "auto" } }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    providerOptions: { [OPTIONS_OF[endpoint.kind]]: { ...options, ...cacheOptions(endpoint.kind, cacheKey) } },
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
