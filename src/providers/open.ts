/** Finds the provider of a model by its name, `provider/model`. */
import { RookeryError } from "../domain/index.ts";
import { anthropicModel } from "./anthropic.ts";
import type { Model } from "./model.ts";

export interface ProviderOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Over what the environment says. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

const PROVIDERS = new Map([["anthropic", anthropicModel]]);

/** Throws `model_invalid` or `provider_unconfigured`. */
export function openModel(name: string, options: ProviderOptions): Model {
  const slash = name.indexOf("/");
  const provider = PROVIDERS.get(name.slice(0, slash));
  const id = name.slice(slash + 1);
  if (slash < 1 || id === "" || provider === undefined) {
    const known = Array.from(PROVIDERS.keys(), (key) => `${key}/…`).join(", ");
    throw new RookeryError("model_invalid", `"${name}" names no model: write provider/model, with one of ${known}`);
  }
  return provider(id, options);
}
