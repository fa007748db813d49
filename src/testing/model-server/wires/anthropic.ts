/** The Anthropic Messages API, version 2023-06-01. */

import { z } from "zod";
import type { ModelAnswer } from "../answer.ts";
import { toModelMessage, toContentText, type ModelMessage } from "../request.ts";
import type { StopReason } from "../script.ts";
import { namedEvent } from "../sse.ts";
import { formatWireId, type ModelExchange, type Wire } from "./wire.ts";

export const anthropic: Wire = {
  name: "anthropic",
  overloadStatus: 529,

  route: (path) =>
    path === "/messages" ? { action: "generate" } : path === "/messages/count_tokens" ? { action: "count" } : undefined,

  read(body, route) {
    const request = (route.action === "count" ? Body : Body.required({ max_tokens: true })).parse(body);
    return {
      model: request.model,
      stream: request.stream ?? false,
      system: toContentText(request.system),
      toolNames: (request.tools ?? []).map((tool) => tool.name),
      messages: request.messages.map(readMessage),
    };
  },

  refusal({ unanswered, unexpected }) {
    if (unanswered.length > 0) {
      return `messages: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered.join(", ")}`;
    }
    if (unexpected.length === 0) return undefined;
    return `messages: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected.join(", ")}`;
  },

  key: (headers) => {
    const key = headers["x-api-key"];
    return typeof key === "string" ? key : headers.authorization?.replace(/^Bearer /i, "");
  },

  stream: (answer, exchange) => [...events(answer, exchange)].map((event) => namedEvent(event.type, event)),

  whole: (answer, exchange) => ({
    ...envelope(exchange),
    content: blocks(answer, exchange).map((block) => block.whole),
    stop_reason: STOP_REASON[answer.stopReason],
    stop_sequence: null,
    usage: { ...inputUsage(answer), ...outputUsage(answer), service_tier: "standard" },
  }),

  tokenCount: (tokens) => ({ input_tokens: tokens }),

  failure(failure, { number }) {
    const type = ERROR_TYPE[failure.status] ?? (failure.status < 500 ? "invalid_request_error" : "api_error");
    const overflow = failure.why === "overflow" ? TOO_LONG : undefined;
    const text =
      failure.message ?? overflow ?? (failure.status === 404 ? `model: ${failure.model ?? ""}` : ERROR_TEXT[type]);
    const error = { type, message: text ?? "Internal server error" };
    const body = JSON.stringify({ type: "error", error, request_id: formatWireId("req", number) });
    return { status: failure.status, body, headers: failure.why === "quota" ? limitHeaders(failure.resetsAt) : {} };
  },

  errorEvent: () =>
    namedEvent("error", {
      type: "error",
      error: { type: "overloaded_error", message: ERROR_TEXT["overloaded_error"] },
    }),

  headers: (kind, { number }) => ({
    "content-type": kind === "stream" ? "text/event-stream; charset=utf-8" : "application/json",
    "cache-control": "no-cache",
    "request-id": formatWireId("req", number),
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
  }),
};

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().optional(),
});
const Message = z.looseObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.union([z.string(), z.array(Block)]),
});
type Message = z.infer<typeof Message>;

const Body = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive().optional(),
  messages: z.array(Message).min(1),
  system: z.unknown().optional(),
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});

const STOP_REASON: Record<StopReason, string> = {
  end: "end_turn",
  tool_calls: "tool_use",
  max_tokens: "max_tokens",
  refusal: "refusal",
};

const ERROR_TYPE: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const ERROR_TEXT: Record<string, string> = {
  invalid_request_error: "Invalid request",
  authentication_error: "invalid x-api-key",
  permission_error: "Your API key does not have permission to use the specified resource.",
  request_too_large: "Request exceeds the maximum size",
  rate_limit_error: "This request would exceed your organization's rate limit of 50 requests per minute.",
  api_error: "Internal server error",
  timeout_error: "Request timed out",
  overloaded_error: "Overloaded",
};

const TOO_LONG = "prompt is too long: 205123 tokens > 200000 maximum";

/** The rate limit headers for an account with a subscription. */
function limitHeaders(resetsAt: Date | undefined): Record<string, string> {
  const reset = resetsAt === undefined ? undefined : String(Math.floor(resetsAt.getTime() / 1000));
  return {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    ...(reset === undefined
      ? {}
      : { "anthropic-ratelimit-unified-reset": reset, "anthropic-ratelimit-unified-5h-reset": reset }),
  };
}

function readMessage({ role, content }: Message): ModelMessage {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const of = (type: string): z.infer<typeof Block>[] => parts.filter((part) => part.type === type);
  return toModelMessage(role === "assistant" ? "assistant" : "user", {
    text: toContentText(of("text")),
    toolCalls: of("tool_use").map((part) => ({ id: part.id ?? "", name: part.name ?? "", input: part.input })),
    toolResults: of("tool_result").map((part) => ({
      id: part.tool_use_id ?? "",
      name: "",
      content: toContentText(part.content),
      isError: part.is_error ?? false,
    })),
  });
}

function envelope({ request, number }: ModelExchange) {
  return { id: formatWireId("msg", number), type: "message", role: "assistant", model: request.model };
}

function inputUsage({ usage }: ModelAnswer) {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
  };
}

function outputUsage({ usage }: ModelAnswer) {
  const details = usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {};
  return { output_tokens: usage.output, ...details };
}

interface ContentBlock {
  readonly whole: object;
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocks({ thinking, text, toolCalls }: ModelAnswer, { number }: ModelExchange): ContentBlock[] {
  const signature = Buffer.from(`signature of message ${number}`).toString("base64");
  const made: ContentBlock[] = [];
  if (thinking.length > 0) {
    made.push({
      whole: { type: "thinking", thinking: thinking.join(""), signature },
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...thinking.map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
    });
  }
  if (text.length > 0) {
    made.push({
      whole: { type: "text", text: text.join("") },
      start: { type: "text", text: "" },
      deltas: text.map((piece) => ({ type: "text_delta", text: piece })),
    });
  }
  for (const [at, { name, input, pieces, ...call }] of toolCalls.entries()) {
    const use = { type: "tool_use", id: call.id ?? formatWireId("toolu", number, at), name };
    made.push({
      whole: { ...use, input: input ?? {} },
      start: { ...use, input: {} },
      // The real stream starts each call with an empty delta.
      deltas: ["", ...pieces].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    });
  }
  return made;
}

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function* events(answer: ModelAnswer, exchange: ModelExchange): Generator<WireEvent> {
  const opening = { content: [], stop_reason: null, stop_sequence: null };
  const usage = { ...inputUsage(answer), output_tokens: 1, service_tier: "standard" };
  yield { type: "message_start", message: { ...envelope(exchange), ...opening, usage } };
  const content = blocks(answer, exchange);
  if (content.length === 0) yield { type: "ping" };
  for (const [index, block] of content.entries()) {
    yield { type: "content_block_start", index, content_block: block.start };
    if (index === 0) yield { type: "ping" };
    for (const delta of block.deltas) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  const delta = { stop_reason: STOP_REASON[answer.stopReason], stop_sequence: null };
  const { cache_creation: _cacheCreation, ...input } = inputUsage(answer);
  yield { type: "message_delta", delta, usage: { ...input, ...outputUsage(answer) } };
  yield { type: "message_stop" };
}
