/** Claude models over the Anthropic Messages API. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { RookeryError } from "../domain/index.ts";
import type { Model } from "./model.ts";
import type { ProviderOptions } from "./open.ts";
import { streamedModel } from "./stream.ts";

/** Five megabytes each, counted in base64. */
const IMAGES = {
  mediaTypes: ["image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp"],
  bytes: (5 * 1024 * 1024 * 3) / 4,
};
const DEFAULT_URL = "https://api.anthropic.com";

export function anthropicModel(id: string, { env, baseUrl, apiKey }: ProviderOptions): Model {
  const key = apiKey ?? env["ANTHROPIC_API_KEY"];
  const token = key ? undefined : env["ANTHROPIC_AUTH_TOKEN"];
  if (!key && !token) {
    throw new RookeryError(
      "provider_unconfigured",
      'no key for Anthropic: set ANTHROPIC_API_KEY and try again, or see it work without one: "rookery demo"',
    );
  }
  const url = versioned(baseUrl ?? env["ANTHROPIC_BASE_URL"] ?? DEFAULT_URL);
  const provider = createAnthropic({ baseURL: url, ...(key ? { apiKey: key } : { authToken: token ?? "" }) });
  return streamedModel(provider(id), {
    provider: "anthropic",
    model: id,
    baseUrl: url,
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
    images: IMAGES,
  });
}

/** Anthropic's own programs take the URL without `/v1`, this SDK takes it with: both are understood. */
function versioned(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new RookeryError("provider_unconfigured", `ANTHROPIC_BASE_URL is not a URL: ${JSON.stringify(url)}`);
  }
  const bare = url.replace(/\/+$/, "");
  return bare.endsWith("/v1") ? bare : `${bare}/v1`;
}
