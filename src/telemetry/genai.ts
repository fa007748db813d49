/**
 * Attributes of the semantic conventions for generative AI of OpenTelemetry, as in open-telemetry/semantic-conventions-genai
 * at 002c8a6 (2026, status "development", on top of semantic conventions 1.41.1).
 */
import { cutText } from "./cut-text.ts";
import type { EventOf, InputPart, Usage } from "../domain/index.ts";
import type { SpanAttributes } from "./span.ts";

/** The schema URL of all spans and metrics. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

/** Well-known values of `gen_ai.provider.name`. Another provider has its own name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  gemini: "gcp.gemini",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};
const BACKEND_PROVIDERS: Readonly<Record<string, string>> = {
  "claude-code": "anthropic",
  codex: "openai",
  "gemini-cli": "gcp.gemini",
};

/** The provider and the model of a session. The model of a program may be unknown. */
export function describeModel(backend: string, model: string | undefined): { provider: string; model?: string } {
  const slash = model?.indexOf("/") ?? -1;
  if (model === undefined || slash === -1) {
    return { provider: BACKEND_PROVIDERS[backend] ?? backend, ...(model !== undefined && { model }) };
  }
  const prefix = model.slice(0, slash);
  return { provider: PROVIDERS[prefix] ?? prefix, model: model.slice(slash + 1) };
}

/** `input_tokens` includes cached ones, as `inputTokens` of the log does. */
export function usageAttributes(usage: { readonly [Key in keyof Usage]?: Usage[Key] | undefined }): SpanAttributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
  };
}

/** Longer texts are cut, because collectors limit the size of a request. In characters. */
const MAX_CONTENT = 32_768;

export function toInputMessages(input: readonly InputPart[]): readonly unknown[] {
  const parts = input.map((part) =>
    part.type === "text"
      ? { type: "text", content: cutContent(part.text) }
      : { type: "uri", mime_type: part.mediaType, modality: "image", uri: part.hash },
  );
  return [{ role: "user", parts }];
}

export function toOutputMessages({ text, toolCalls = [] }: EventOf<"message.completed">): readonly unknown[] {
  const calls = toolCalls.map(({ toolId, name, input }) => ({
    type: "tool_call",
    id: toolId,
    name,
    arguments: cutValue(input),
  }));
  const said = text === "" ? [] : [{ type: "text", content: cutContent(text) }];
  return [{ role: "assistant", parts: [...said, ...calls], finish_reason: calls.length > 0 ? "tool_call" : "stop" }];
}

export function cutContent(text: string): string {
  return cutText(text, MAX_CONTENT);
}

/** Keeps a small value, and converts a large one to text. */
export function cutValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "";
  return text.length > MAX_CONTENT ? cutContent(text) : value;
}
