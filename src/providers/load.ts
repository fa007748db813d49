/** The SDK's model for an endpoint. Each provider's part of the SDK is loaded when it is first asked for something. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Endpoint } from "./endpoint.ts";

/** What the SDK calls the options of each kind, in requests and in what is kept of a reply. */
export const OPTIONS_OF = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  "openai-compatible": "compatible",
} as const;

const fetch = boundedFetch();

export async function loadModel(endpoint: Endpoint): Promise<LanguageModelV3> {
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
      const name = OPTIONS_OF[kind];
      return createOpenAICompatible({ name, baseURL, headers, fetch, ...secret, includeUsage: true })(model);
    }
  }
}
