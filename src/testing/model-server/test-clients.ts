/** Real clients that the tests of this folder drive the server with, and their results. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool, type LanguageModel } from "ai";
import { z } from "zod";

// Disables the SDK's warnings on stderr.
(globalThis as Record<string, unknown>)["AI_SDK_LOG_WARNINGS"] = false;

export const CLIENTS = {
  anthropic: (url, apiKey) => createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
  "openai-responses": (url, apiKey) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses("gpt-5"),
  "openai-chat": (url, apiKey) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat("gpt-4.1"),
  "openai-compatible": (url, apiKey) =>
    createOpenAICompatible({ name: "local", baseURL: `${url}/v1`, apiKey, includeUsage: true })("qwen3-coder"),
  gemini: (url, apiKey) => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })("gemini-2.5-pro"),
} satisfies Record<string, (url: string, apiKey: string) => LanguageModel>;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

export const FAKE_KEY = "fake-key-of-a-test";

export const TOOLS = {
  read: tool({
    description: "Reads a file",
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => `text of ${path}`,
  }),
  bash: tool({
    description: "Runs a command",
    inputSchema: z.object({ command: z.string(), timeout: z.number() }),
    execute: ({ command }) => `output of ${command}`,
  }),
};

export const INSTRUCTIONS = "You are a scripted model.";

export interface AskOptions {
  readonly mode: "streamed" | "whole";
  readonly key?: string;
  readonly steps?: number;
  readonly signal?: AbortSignal;
}

/** Returns the answer as the client parsed it. Throws the client's error. */
export async function ask(client: ClientName, url: string, prompt: string, options: AskOptions) {
  const settings = {
    model: CLIENTS[client](url, options.key ?? FAKE_KEY),
    system: INSTRUCTIONS,
    prompt,
    tools: TOOLS,
    stopWhen: stepCountIs(options.steps ?? 1),
    maxRetries: 0,
    ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  };
  const result = options.mode === "whole" ? await generateText(settings) : await streamed(settings);
  const { text, reasoningText, toolCalls, finishReason, usage } = result;
  return {
    text,
    reasoning: reasoningText,
    toolCalls: toolCalls.map(({ toolName, input }) => ({ toolName, input })),
    finishReason,
    usage: {
      input: usage.inputTokens,
      output: usage.outputTokens,
      cacheRead: usage.inputTokenDetails.cacheReadTokens,
      cacheWrite: usage.inputTokenDetails.cacheWriteTokens,
      reasoning: usage.outputTokenDetails.reasoningTokens,
    },
  };
}

/** Returns the text that arrived before the stream ended or failed, and the error. */
export async function listen(client: ClientName, url: string): Promise<{ text: string; error: unknown }> {
  let text = "";
  let error: unknown;
  const settings = { model: CLIENTS[client](url, FAKE_KEY), prompt: "Go", maxRetries: 0 };
  try {
    for await (const part of streamText({ ...settings, onError: () => undefined }).fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "error") error ??= part.error;
    }
  } catch (thrown) {
    error ??= thrown;
  }
  return { text, error };
}

async function streamed(settings: Parameters<typeof streamText<typeof TOOLS>>[0]) {
  let failure: unknown;
  const result = streamText({ ...settings, onError: ({ error }) => void (failure ??= error) });
  await result.consumeStream();
  if (failure !== undefined) throw failure as Error;
  const [text, reasoningText, toolCalls] = await Promise.all([result.text, result.reasoningText, result.toolCalls]);
  return { text, reasoningText, toolCalls, finishReason: await result.finishReason, usage: await result.usage };
}
