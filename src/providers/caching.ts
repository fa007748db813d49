/** What lets a provider recognise the beginning of a request that it has seen before. */
import type { JSONObject, LanguageModelV3Message } from "@ai-sdk/provider";
import type { ProviderKind } from "../domain/provider.ts";

const MARKER = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Options of the request. Anthropic has markers instead, and the others find out for themselves. */
export function cacheOptions(kind: ProviderKind, cacheKey: string | undefined): JSONObject {
  return kind === "openai" && cacheKey !== undefined ? { promptCacheKey: cacheKey } : {};
}

/**
 * Anthropic takes four markers: one after the tools and the system prompt, one at the end, and one where the request
 * before this one ended. It looks back from a marker over twenty blocks only, and a step may have more.
 */
export function withMarkers(kind: ProviderKind, prompt: readonly LanguageModelV3Message[]): LanguageModelV3Message[] {
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
