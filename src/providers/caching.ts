/** Prompt caching: lets a provider recognize the beginning of a request that it has seen before. */
import type { JSONObject, LanguageModelV3Message } from "@ai-sdk/provider";
import type { ProviderKind } from "../domain/provider.ts";

const MARKER = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Returns the request options for caching. Anthropic uses markers instead; the other APIs cache automatically. */
export function cacheOptions(kind: ProviderKind, cacheKey: string | undefined): JSONObject {
  return kind === "openai" && cacheKey !== undefined ? { promptCacheKey: cacheKey } : {};
}

/** xAI takes the key of chat completions in a header, as documented in November 2026. */
export function cacheHeaders(provider: string, cacheKey: string | undefined): Record<string, string> {
  return provider === "xai" && cacheKey !== undefined ? { "x-grok-conv-id": cacheKey } : {};
}

/**
 * Adds Anthropic's cache markers: after the tools and system prompt, at the end, and where the previous request ended.
 * Anthropic accepts four markers and looks back only twenty blocks from each, and one step may add more blocks than
 * that.
 */
export function addCacheMarkers(
  kind: ProviderKind,
  prompt: readonly LanguageModelV3Message[],
): LanguageModelV3Message[] {
  if (kind !== "anthropic") return [...prompt];
  const last = prompt.findLastIndex(isGiven);
  const before = prompt.slice(0, Math.max(last, 0)).findLastIndex(isGiven);
  return prompt.map((message, index) =>
    message.role === "system" || index === last || index === before ? { ...message, providerOptions: MARKER } : message,
  );
}

function isGiven({ role }: LanguageModelV3Message): boolean {
  return role === "user" || role === "tool";
}
