/** The OpenAI Responses API. */

import { z } from "zod";
import type { ModelAnswer } from "../answer.ts";
import { toModelMessage, toContentText, type ModelMessage } from "../request.ts";
import { namedEvent } from "../sse.ts";
import { parseArguments, openaiFailure, openaiHeaders, openaiKey, SERVER_ERROR } from "./openai.ts";
import { formatWireId, type ModelExchange, type Wire } from "./wire.ts";

export const openaiResponses: Wire = {
  name: "openai-responses",
  overloadStatus: 503,

  route: (path) =>
    path === "/responses"
      ? { action: "generate" }
      : path === "/responses/input_tokens"
        ? { action: "count" }
        : undefined,

  read(body) {
    const request = Body.parse(body);
    const items = typeof request.input === "string" ? [{ role: "user", content: request.input }] : request.input;
    const isSystem = ({ role }: Item) => role === "system" || role === "developer";
    return {
      model: request.model,
      stream: request.stream ?? false,
      system: [request.instructions, ...items.filter(isSystem).map(({ content }) => toContentText(content))]
        .filter(Boolean)
        .join("\n"),
      toolNames: (request.tools ?? []).flatMap(({ name }) => (name === undefined ? [] : [name])),
      messages: items.filter((item) => !isSystem(item)).map(readItem),
    };
  },

  // Accepts results without a call: with `previous_response_id`, only the server has the call.
  refusal: ({ unanswered: [call] }) =>
    call === undefined ? undefined : `No tool output found for function call ${call}.`,

  key: openaiKey,

  stream: (answer, exchange) =>
    [...events(answer, exchange)].map(({ type, ...fields }, sequence_number) =>
      namedEvent(type, { type, sequence_number, ...fields }),
    ),

  whole: (answer, exchange) => finished(answer, exchange),
  tokenCount: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
  failure: openaiFailure,

  errorEvent: (sequence_number) =>
    namedEvent("error", {
      type: "error",
      sequence_number,
      code: SERVER_ERROR.type,
      message: SERVER_ERROR.message,
      param: null,
    }),

  headers: openaiHeaders,
};

const Item = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  output: z.unknown().optional(),
});
type Item = z.infer<typeof Item>;

const Body = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(Item)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

/** Reads items that refer to earlier output (`reasoning`, `item_reference`) as assistant messages without text. */
function readItem(item: Item): ModelMessage {
  if (item.type === "function_call_output") {
    const result = { id: item.call_id ?? "", name: "", content: toContentText(item.output), isError: false };
    return toModelMessage("user", { toolResults: [result] });
  }
  if (item.type === "function_call") {
    const made = { id: item.call_id ?? "", name: item.name ?? "", input: parseArguments(item.arguments ?? "") };
    return toModelMessage("assistant", { toolCalls: [made] });
  }
  return toModelMessage(item.role === "user" ? "user" : "assistant", { text: toContentText(item.content) });
}

type Fields = Readonly<Record<string, unknown>>;

function envelope({ request, number, created }: ModelExchange): Fields {
  const asked = z.record(z.string(), z.unknown()).parse(request.body);
  return {
    id: formatWireId("resp", number),
    object: "response",
    created_at: created,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked["instructions"] ?? null,
    max_output_tokens: asked["max_output_tokens"] ?? null,
    model: request.model,
    output: [],
    parallel_tool_calls: asked["parallel_tool_calls"] ?? true,
    previous_response_id: asked["previous_response_id"] ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: asked["store"] ?? true,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: asked["tool_choice"] ?? "auto",
    tools: asked["tools"] ?? [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: asked["metadata"] ?? {},
  };
}

function finished(answer: ModelAnswer, exchange: ModelExchange): Fields {
  const reason = { max_tokens: "max_output_tokens", refusal: "content_filter", end: undefined, tool_calls: undefined }[
    answer.stopReason
  ];
  return {
    ...envelope(exchange),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: items(answer, exchange).map((item) => item.done),
    usage: formatUsage(answer),
  };
}

function formatUsage({ usage }: ModelAnswer): Fields {
  const written = usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {};
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, ...written },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

interface WireEvent extends Fields {
  readonly type: string;
}

/** One output item: its announcement, its events, and its final form. */
interface OutputItem {
  readonly added: Fields;
  readonly inner: (at: { item_id: string; output_index: number }) => WireEvent[];
  readonly done: Fields & { readonly id: string };
}

function items({ thinking, text, toolCalls }: ModelAnswer, { number, request }: ModelExchange): OutputItem[] {
  const asked = JSON.stringify(z.record(z.string(), z.unknown()).parse(request.body)["include"] ?? []);
  const encrypted = asked.includes("reasoning.encrypted_content");
  return [
    ...(thinking.length > 0 ? [reasoningItem(formatWireId("rs", number), thinking, encrypted)] : []),
    ...(text.length > 0 ? [messageItem(formatWireId("msg", number), text)] : []),
    ...toolCalls.map(({ name, namespace, pieces, ...made }, at) => {
      const ids = { id: formatWireId("fc", number, at), call_id: made.id ?? formatWireId("call", number, at) };
      return callItem({ ...ids, name, ...(namespace === undefined ? {} : { namespace }) }, pieces);
    }),
  ];
}

/** Clients that do not store responses at OpenAI request encrypted reasoning instead. */
function reasoningItem(item: string, pieces: readonly string[], encrypted: boolean): OutputItem {
  const sealed = encrypted ? { encrypted_content: Buffer.from(`thoughts of ${item}`).toString("base64") } : {};
  const part = { type: "summary_text", text: pieces.join("") };
  return {
    added: { id: item, type: "reasoning", summary: [] },
    inner: (at) => {
      const where = { ...at, summary_index: 0 };
      return [
        { type: "response.reasoning_summary_part.added", ...where, part: { ...part, text: "" } },
        ...pieces.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...where, delta })),
        { type: "response.reasoning_summary_text.done", ...where, text: part.text },
        { type: "response.reasoning_summary_part.done", ...where, part },
      ];
    },
    done: { id: item, type: "reasoning", ...sealed, summary: [part] },
  };
}

function messageItem(item: string, pieces: readonly string[]): OutputItem {
  const part = { type: "output_text", annotations: [], logprobs: [], text: pieces.join("") };
  const shape = { id: item, type: "message", role: "assistant" };
  return {
    added: { ...shape, status: "in_progress", content: [] },
    inner: (at) => {
      const where = { ...at, content_index: 0 };
      return [
        { type: "response.content_part.added", ...where, part: { ...part, text: "" } },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...where, delta, logprobs: [] })),
        { type: "response.output_text.done", ...where, text: part.text, logprobs: [] },
        { type: "response.content_part.done", ...where, part },
      ];
    },
    done: { ...shape, status: "completed", content: [part] },
  };
}

interface CallShape {
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
}

function callItem(made: CallShape, pieces: readonly string[]): OutputItem {
  const shape = { ...made, type: "function_call" };
  const whole = pieces.join("");
  return {
    added: { ...shape, status: "in_progress", arguments: "" },
    inner: (at) => [
      ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
      { type: "response.function_call_arguments.done", ...at, arguments: whole },
    ],
    done: { ...shape, status: "completed", arguments: whole },
  };
}

function* events(answer: ModelAnswer, exchange: ModelExchange): Generator<WireEvent> {
  yield { type: "response.created", response: envelope(exchange) };
  yield { type: "response.in_progress", response: envelope(exchange) };
  for (const [output_index, item] of items(answer, exchange).entries()) {
    yield { type: "response.output_item.added", output_index, item: item.added };
    yield* item.inner({ item_id: item.done.id, output_index });
    yield { type: "response.output_item.done", output_index, item: item.done };
  }
  const response = finished(answer, exchange);
  yield { type: `response.${String(response["status"])}`, response };
}
