/** Opens a model by its name, `provider/model`. */
import type { JSONObject } from "@ai-sdk/provider";
import type { ProviderKind } from "../domain/provider.ts";
import { effortOptions } from "./effort.ts";
import { findEndpoint, type ProviderOptions } from "./endpoint.ts";
import { IMAGE_LIMITS } from "./images.ts";
import { loadModel } from "./load.ts";
import type { Model } from "./model.ts";
import { contextSizeOf } from "./sizes.ts";
import { streamedModel } from "./stream.ts";

/** What each request says whatever it is about. OpenAI keeps nothing for us: what it thought goes back to it encrypted. */
const ALWAYS: Record<ProviderKind, JSONObject> = {
  anthropic: {},
  openai: { store: false },
  google: {},
  "openai-compatible": {},
};

/** Throws `model_invalid`, `provider_unknown` or `provider_unconfigured`. Nothing is sent before the first request. */
export function openModel(name: string, options: ProviderOptions): Model {
  const endpoint = findEndpoint(name, options);
  const { kind, model, images, context } = endpoint;
  let loading: ReturnType<typeof loadModel> | undefined;
  return streamedModel({
    endpoint,
    load: () => (loading ??= loadModel(endpoint)),
    images: images === false ? undefined : IMAGE_LIMITS[kind],
    options: { ...ALWAYS[kind], ...effortOptions(kind, model, options.effort) },
    contextSize: context ?? contextSizeOf(name),
    now: options.now ?? Date.now,
  });
}
