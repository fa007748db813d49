/** Test models, one for each API, and shortcuts for messages. */
import type { BlobPart, InputPart, ToolSpec } from "../domain/index.ts";
import type { ProviderOptions } from "./endpoint.ts";
import type { CompletionMessage, Model, ModelPart, ModelReply, CompletionRequest } from "../domain/model.ts";
import { openModel } from "./open.ts";

export const FAKE_KEY = "fake-key-of-a-test";

export const WIRE_MODELS = {
  anthropic: "anthropic/claude-sonnet-4-5",
  openai: "openai/gpt-5.4",
  google: "google/gemini-2.5-pro",
  "openai-compatible": "vllm/qwen3-coder",
} as const;

export type WireName = keyof typeof WIRE_MODELS;
export const WIRES = Object.keys(WIRE_MODELS) as WireName[];

export function openTestModel(
  wire: WireName,
  baseUrl: string,
  more: Partial<ProviderOptions> & { name?: string } = {},
): Model {
  const { name = WIRE_MODELS[wire], ...options } = more;
  return openModel(name, { env: {}, baseUrl, apiKey: FAKE_KEY, ...options });
}

export const BASH: ToolSpec = {
  name: "bash",
  description: "Runs a command",
  inputSchema: { type: "object", properties: { command: { type: "string" } } },
  kind: "execute",
  readOnly: false,
};

export async function requestReply(
  model: Model,
  messages: readonly CompletionMessage[] = [user("Go")],
  more: Partial<CompletionRequest> = {},
): Promise<ModelReply> {
  const last = (await collectParts(model, messages, more)).at(-1);
  if (last?.type === "reply") return last.reply;
  throw new Error("no reply");
}

export async function collectParts(
  model: Model,
  messages: readonly CompletionMessage[] = [user("Go")],
  more: Partial<CompletionRequest> = {},
): Promise<ModelPart[]> {
  const { signal } = new AbortController();
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ system: "", messages, tools: [BASH], signal, blob, ...more }))
    parts.push(part);
  return parts;
}

/** The bytes of a blob are its hash. The blob "gone" is missing. */
export function blob(hash: string): Promise<Uint8Array | undefined> {
  return Promise.resolve(hash === "gone" ? undefined : Buffer.from(hash));
}

export function user(value: string): CompletionMessage {
  return { role: "user", parts: [text(value)] };
}

export function text(value: string): InputPart {
  return { type: "text", text: value };
}

export function image(hash: string): BlobPart {
  return { type: "blob", hash, mediaType: "image/png" };
}

/** Returns a reply and the results of its calls as messages. */
export function toFollowUpMessages({ text: said, calls, native }: ModelReply, result = "done"): CompletionMessage[] {
  const results = calls.map(({ toolId, name }) => ({ toolId, name, text: result, failed: false }));
  const assistant: CompletionMessage = { role: "assistant", text: said, calls, native };
  return results.length === 0 ? [assistant] : [assistant, { role: "tool", results }];
}
