/** Opens a model by its name, `provider/model`. */
import type { JSONObject } from "@ai-sdk/provider";
import type { ProviderKind } from "../domain/provider.ts";
import { DEMO_MODEL, openDemoModel } from "./demo/model.ts";
import { effortOptions } from "./effort.ts";
import { findEndpoint, parseModelName, type ProviderOptions } from "./endpoint.ts";
import { IMAGE_LIMITS } from "./images.ts";
import { loadModel } from "./load.ts";
import type { Model } from "../domain/model.ts";
import { openRegisteredModel } from "./registered/registered-model.ts";
import { lookUpContextSize } from "./sizes.ts";
import { makeStreamedModel } from "./stream.ts";

/** Options of every request. OpenAI stores nothing; its thoughts are sent back encrypted. */
const BASE_OPTIONS: Record<ProviderKind, JSONObject> = {
  anthropic: {},
  openai: { store: false },
  google: {},
  "openai-compatible": {},
};

/**
 * Opens a model of a registered provider, or else a built-in or configured one. Rejects like `openModel`, or with the
 * error of the registered provider.
 */
export async function openNamedModel(name: string, options: ProviderOptions): Promise<Model> {
  const { provider, model } = parseModelName(name);
  const registered = options.registered?.get(provider);
  if (registered === undefined) return openModel(name, options);
  const { env, effort, baseUrl, apiKey } = options;
  const opened = await openRegisteredModel(registered, model, { env, effort, baseUrl, apiKey });
  return { ...opened, contextSize: options.context ?? opened.contextSize ?? lookUpContextSize(name) };
}

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
