/** Opens a model by its name, `provider/model`. */
import type { JSONObject } from "@ai-sdk/provider";
import type { ProviderKind } from "../domain/provider.ts";
import { DEMO_MODEL, openDemoModel } from "./demo/model.ts";
import { effortOptions } from "./effort.ts";
import { findEndpoint, type ProviderOptions } from "./endpoint.ts";
import { IMAGE_LIMITS } from "./images.ts";
import { loadModel } from "./load.ts";
import type { Model } from "./model.ts";
import { lookUpContextSize } from "./sizes.ts";
import { makeStreamedModel } from "./stream.ts";

/** Options of every request. OpenAI stores nothing; its thoughts are sent back encrypted. */
const BASE_OPTIONS: Record<ProviderKind, JSONObject> = {
  anthropic: {},
  openai: { store: false },
  google: {},
  "openai-compatible": {},
};

/** Opens a model without sending anything. Throws `model_invalid`, `provider_unknown` or `provider_unconfigured`. */
export function openModel(name: string, options: ProviderOptions): Model {
  if (name === DEMO_MODEL) return openDemoModel();
  const endpoint = findEndpoint(name, options);
  const { kind, model, images, context } = endpoint;
  let loading: ReturnType<typeof loadModel> | undefined;
  return makeStreamedModel({
    endpoint,
    load: () => (loading ??= loadModel(endpoint)),
    images: images === false ? undefined : IMAGE_LIMITS[kind],
    options: { ...BASE_OPTIONS[kind], ...effortOptions(kind, model, options.effort) },
    contextSize: context ?? lookUpContextSize(name),
    now: options.now ?? Date.now,
  });
}
