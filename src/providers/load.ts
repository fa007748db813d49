/** Creates the SDK's model for an endpoint. Each provider package is imported on first use. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ModelEndpoint } from "./endpoint.ts";

/** The name under which the SDK keeps provider options, in requests and in stored replies. */
export const OPTION_KEYS = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  "openai-compatible": "compatible",
} as const;

const fetch = boundedFetch();

export async function loadModel(endpoint: ModelEndpoint): Promise<LanguageModelV3> {
  const { kind, model, baseUrl: baseURL, key, bearer, headers: own } = endpoint;
  const headers = { ...own };
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const secret = bearer ? { authToken: key ?? "" } : { apiKey: key ?? "" };
      return createAnthropic({ baseURL, headers, fetch, ...secret })(model);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ baseURL, headers, fetch, apiKey: key ?? "" }).responses(model);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ baseURL, headers, fetch, apiKey: key ?? "" })(model);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const secret = key === undefined ? {} : { apiKey: key };
      const name = OPTION_KEYS[kind];
      return createOpenAICompatible({ name, baseURL, headers, fetch, ...secret, includeUsage: true })(model);
    }
  }
}
