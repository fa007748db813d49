/** The models that this folder's tests ask, one for each wire, and small words for messages. */
import type { BlobPart, InputPart, ToolSpec } from "../domain/index.ts";
import type { ProviderOptions } from "./endpoint.ts";
import type { Message, Model, ModelPart, ModelReply, ModelRequest } from "./model.ts";
import { openModel } from "./open.ts";

export const FAKE_KEY = "fake-key-of-a-test";

const NAMES = {
  anthropic: "anthropic/claude-sonnet-4-5",
  openai: "openai/gpt-5.4",
  google: "google/gemini-2.5-pro",
  "openai-compatible": "vllm/qwen3-coder",
} as const;

export type WireName = keyof typeof NAMES;
export const WIRES = Object.keys(NAMES) as WireName[];

export function modelOver(
  wire: WireName,
  baseUrl: string,
  more: Partial<ProviderOptions> & { name?: string } = {},
): Model {
  const { name = NAMES[wire], ...options } = more;
  return openModel(name, { env: {}, baseUrl, apiKey: FAKE_KEY, ...options });
}

export const BASH: ToolSpec = {
  name: "bash",
  description: "Runs a command",
  inputSchema: { type: "object", properties: { command: { type: "string" } } },
  kind: "execute",
  readOnly: false,
};

export async function replyTo(
  model: Model,
  messages: readonly Message[] = [user("Go")],
  more: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  const last = (await partsOf(model, messages, more)).at(-1);
  if (last?.type === "reply") return last.reply;
  throw new Error("no reply");
}

export async function partsOf(
  model: Model,
  messages: readonly Message[] = [user("Go")],
  more: Partial<ModelRequest> = {},
): Promise<ModelPart[]> {
  const { signal } = new AbortController();
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ system: "", messages, tools: [BASH], signal, blob, ...more }))
    parts.push(part);
  return parts;
}

/** The bytes of a blob are those of its name. */
export function blob(hash: string): Promise<Uint8Array | undefined> {
  return Promise.resolve(hash === "gone" ? undefined : Buffer.from(hash));
}

export function user(value: string): Message {
  return { role: "user", parts: [text(value)] };
}

export function text(value: string): InputPart {
  return { type: "text", text: value };
}

export function image(hash: string): BlobPart {
  return { type: "blob", hash, mediaType: "image/png" };
}

/** A reply and the results of its calls, as messages. */
export function afterwards({ text: said, calls, native }: ModelReply, result = "done"): Message[] {
  const results = calls.map(({ toolId, name }) => ({ toolId, name, text: result, failed: false }));
  const assistant: Message = { role: "assistant", text: said, calls, native };
  return results.length === 0 ? [assistant] : [assistant, { role: "tool", results }];
}
