/** The OpenAI Chat Completions API, which OpenAI-compatible servers also use. */

import { z } from "zod";
import type { ModelAnswer } from "../answer.ts";
import { toModelMessage, toContentText, type ModelMessage } from "../request.ts";
import type { StopReason } from "../script.ts";
import { dataEvent } from "../sse.ts";
import { parseArguments, openaiFailure, openaiHeaders, openaiKey, SERVER_ERROR } from "./openai.ts";
import { formatWireId, type ModelExchange, type Wire } from "./wire.ts";

export const openaiChat: Wire = {
  name: "openai-chat",
  overloadStatus: 503,

  route: (path) => (path === "/chat/completions" ? { action: "generate" } : undefined),

  read(body) {
    const request = Body.parse(body);
    const isSystem = ({ role }: Message) => role === "system" || role === "developer";
    return {
      model: request.model,
      stream: request.stream ?? false,
      system: request.messages
        .filter(isSystem)
        .map(({ content }) => toContentText(content))
        .join("\n"),
      toolNames: (request.tools ?? []).map((tool) => tool.function.name),
      messages: request.messages.filter((said) => !isSystem(said)).map(readMessage),
    };
  },

  refusal({ unanswered, unexpected }) {
    if (unanswered.length > 0) {
      return `The following tool_call_ids did not have response messages: ${unanswered.join(", ")}`;
    }
    if (unexpected.length === 0) return undefined;
    return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  },

  key: openaiKey,

  stream(answer, exchange) {
    // Chunks have `usage` only if the client requests it. It is null in all but the last.
    const withUsage = Body.parse(exchange.request.body).stream_options?.include_usage === true;
    const common = { ...envelope("chat.completion.chunk", exchange), ...(withUsage ? { usage: null } : {}) };
    const chunk = (delta: object, finish_reason: string | null = null) =>
      dataEvent({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    return [
      ...deltas(answer, exchange).map((delta) => chunk(delta)),
      chunk({}, FINISH_REASON[answer.stopReason]),
      ...(withUsage ? [dataEvent({ ...common, choices: [], usage: formatUsage(answer) })] : []),
      dataEvent("[DONE]"),
    ];
  },

  whole: (answer, exchange) => ({
    ...envelope("chat.completion", exchange),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.text.length > 0 ? answer.text.join("") : null,
          ...(answer.thinking.length > 0 ? { reasoning_content: answer.thinking.join("") } : {}),
          ...(answer.toolCalls.length > 0 ? { tool_calls: wholeCalls(answer, exchange) } : {}),
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: FINISH_REASON[answer.stopReason],
      },
    ],
    usage: formatUsage(answer),
  }),

  tokenCount: (tokens) => ({ input_tokens: tokens }),
  failure: openaiFailure,
  errorEvent: () => dataEvent({ error: { ...SERVER_ERROR, param: null, code: null } }),
  headers: openaiHeaders,
};

const Call = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) });
const Message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.unknown().optional(),
  tool_calls: z.array(Call).nullish(),
  tool_call_id: z.string().optional(),
});
type Message = z.infer<typeof Message>;

const Body = z.looseObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});

const FINISH_REASON: Record<StopReason, string> = {
  end: "stop",
  tool_calls: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

function readMessage({ role, content, tool_calls, tool_call_id }: Message): ModelMessage {
  if (role === "tool") {
    const result = { id: tool_call_id ?? "", name: "", content: toContentText(content), isError: false };
    return toModelMessage("user", { toolResults: [result] });
  }
  return toModelMessage(role === "assistant" ? "assistant" : "user", {
    text: toContentText(content),
    toolCalls: (tool_calls ?? []).map((made) => ({
      id: made.id,
      name: made.function.name,
      input: parseArguments(made.function.arguments),
    })),
  });
}

function envelope(object: string, { request, number, created }: ModelExchange) {
  return {
    id: formatWireId("chatcmpl", number).replace("_", "-"),
    object,
    created,
    model: request.model,
    service_tier: "default",
    system_fingerprint: "fp_000000000000",
  };
}

function formatUsage({ usage }: ModelAnswer) {
  const written = usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {};
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0, ...written },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function wholeCalls({ toolCalls }: ModelAnswer, { number }: ModelExchange) {
  return toolCalls.map((made, at) => ({
    id: made.id ?? formatWireId("call", number, at),
    type: "function",
    function: { name: made.name, arguments: made.pieces.join("") },
  }));
}

/** OpenAI has no `reasoning_content`; compatible servers (DeepSeek, vLLM, llama.cpp) stream thinking in it. */
function deltas(answer: ModelAnswer, exchange: ModelExchange): object[] {
  const silent = answer.text.length === 0 && answer.toolCalls.length > 0;
  return [
    { role: "assistant", content: silent ? null : "", refusal: null },
    ...answer.thinking.map((piece) => ({ reasoning_content: piece })),
    ...answer.text.map((piece) => ({ content: piece })),
    ...wholeCalls(answer, exchange).flatMap((made, index) => [
      { tool_calls: [{ index, ...made, function: { ...made.function, arguments: "" } }] },
      ...(answer.toolCalls[index]?.pieces ?? []).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
}
