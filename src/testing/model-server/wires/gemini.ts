/** The Gemini API, v1beta. */

import { z } from "zod";
import type { ModelAnswer } from "../answer.ts";
import { toModelMessage, toContentText, type ModelMessage } from "../request.ts";
import type { StopReason } from "../script.ts";
import { dataEvent } from "../sse.ts";
import { formatWireId, type ModelExchange, type WireError, type Wire } from "./wire.ts";

export const gemini: Wire = {
  name: "gemini",
  overloadStatus: 503,

  route(path, query) {
    const [, model, method] = /^\/(?:models|tunedModels)\/([^/:]+):(\w+)$/.exec(path) ?? [];
    if (model === undefined) return undefined;
    const named = { model: decodeURIComponent(model) };
    switch (method) {
      case "generateContent":
        return { ...named, action: "generate", stream: false };
      case "streamGenerateContent":
        return { ...named, action: "generate", stream: true, array: query.get("alt") !== "sse" };
      case "countTokens":
        return { ...named, action: "count" };
      default:
        return undefined;
    }
  },

  read(body, route) {
    const request = Body.parse(body);
    return {
      model: route.model ?? "",
      stream: route.stream ?? false,
      system: toContentText(request.systemInstruction?.parts),
      toolNames: (request.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
      messages: request.contents.map(readContent),
    };
  },

  refusal({ unanswered, unexpected }) {
    if (unanswered.length + unexpected.length === 0) return undefined;
    return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  },

  key(headers, query) {
    const key = headers["x-goog-api-key"] ?? query.get("key");
    return typeof key === "string" ? key : undefined;
  },

  stream(answer, exchange) {
    const chunks = parts(answer, exchange).map((content, at, all) => {
      const last = at === all.length - 1;
      return response(
        content,
        last ? answer.stopReason : undefined,
        last ? formatUsage(answer) : formatInputUsage(answer),
        exchange,
      );
    });
    if (exchange.route.array !== true) return chunks.map((chunk) => dataEvent(chunk, "\r\n"));
    return [...chunks.map((chunk, at) => `${at === 0 ? "[" : ",\r\n"}${JSON.stringify(chunk, null, 2)}`), "\n]\n"];
  },

  whole: (answer, exchange) => response(joined(answer, exchange), answer.stopReason, formatUsage(answer), exchange),

  tokenCount: (tokens) => ({
    totalTokens: tokens,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: tokens }],
  }),

  failure(failure) {
    // The real API rejects a wrong key with 400.
    const code = failure.why === "wrong_key" ? 400 : failure.status;
    const [status, words] = ERRORS[code] ?? ERRORS[code < 500 ? 400 : 500]!;
    const text = failure.message ?? ERROR_MESSAGES[failure.why ?? "unknown_model"] ?? words(failure.model ?? "");
    const details = errorDetails(failure);
    const error = { code, message: text, status, ...(details.length > 0 ? { details } : {}) };
    return { status: code, body: `${JSON.stringify({ error }, null, 2)}\n` };
  },

  errorEvent: () => {
    const [status, words] = ERRORS[503]!;
    return dataEvent({ error: { code: 503, message: words(""), status } }, "\r\n");
  },

  headers: (kind) => ({
    "content-type": kind === "stream" ? "text/event-stream" : "application/json; charset=UTF-8",
    vary: "Origin, X-Origin, Referer",
    "x-content-type-options": "nosniff",
  }),
};

const Part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string(), args: z.unknown().optional() }).optional(),
  functionResponse: z
    .looseObject({ id: z.string().optional(), name: z.string(), response: z.record(z.string(), z.unknown()) })
    .optional(),
});
const Content = z.looseObject({ role: z.enum(["user", "model", "function"]).optional(), parts: z.array(Part) });
type Content = z.infer<typeof Content>;

const Body = z.looseObject({
  contents: z.array(Content).min(1),
  systemInstruction: z.looseObject({ parts: z.unknown() }).optional(),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }))
    .optional(),
});

const FINISH_REASON: Record<StopReason, string> = {
  end: "STOP",
  tool_calls: "STOP",
  max_tokens: "MAX_TOKENS",
  refusal: "SAFETY",
};

const ERROR_MESSAGES: Partial<Record<NonNullable<WireError["why"]>, string>> = {
  wrong_key: "API key not valid. Please pass a valid API key.",
  overflow: "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
  quota: "You exceeded your current quota, please check your plan and billing details.",
};
const LIST_MODELS = "Call ListModels to see the list of available models and their supported methods.";

const ERRORS: Record<number, [status: string, words: (model: string) => string]> = {
  400: ["INVALID_ARGUMENT", () => "Request contains an invalid argument."],
  401: ["UNAUTHENTICATED", () => "Request had invalid authentication credentials."],
  403: ["PERMISSION_DENIED", () => "The caller does not have permission"],
  404: [
    "NOT_FOUND",
    (model) =>
      `models/${model} is not found for API version v1beta, or is not supported for generateContent. ${LIST_MODELS}`,
  ],
  429: ["RESOURCE_EXHAUSTED", () => "Resource has been exhausted (e.g. check quota)."],
  500: ["INTERNAL", () => "An internal error has occurred."],
  503: ["UNAVAILABLE", () => "The model is overloaded. Please try again later."],
  504: ["DEADLINE_EXCEEDED", () => "The request timed out. Please try again."],
};

function errorDetails({ why, retryAfter }: WireError): object[] {
  const domain = "googleapis.com";
  if (why === "wrong_key") {
    return [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain }];
  }
  const daily = { quotaMetric: `generativelanguage.${domain}/requests`, quotaId: "GenerateRequestsPerDayPerProject" };
  const quota = { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [daily] };
  if (why === "quota") return [quota];
  if (typeof retryAfter !== "number") return [];
  return [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfter}s` }];
}

function readContent({ role, parts }: Content): ModelMessage {
  return toModelMessage(role === "model" ? "assistant" : "user", {
    text: toContentText(parts.filter((part) => part.thought !== true)),
    toolCalls: parts.flatMap(({ functionCall: made }) =>
      made === undefined ? [] : [{ id: made.id ?? "", name: made.name, input: made.args ?? {} }],
    ),
    toolResults: parts.flatMap(({ functionResponse: given }) =>
      given === undefined ? [] : [{ id: given.id ?? "", name: given.name, ...readResponse(given.response) }],
    ),
  });
}

/** By convention, the result is in `output` or `content`, and a failure in `error`. */
function readResponse(response: Record<string, unknown>): { content: string; isError: boolean } {
  const { error, output, content } = response;
  return { content: toContentText(error ?? output ?? content ?? response), isError: error !== undefined };
}

/** Each piece of thinking and text is one chunk; all calls share one chunk. */
function parts(answer: ModelAnswer, exchange: ModelExchange): object[][] {
  const calls = callParts(answer, exchange);
  const chunks = [
    ...answer.thinking.map((text) => [{ text, thought: true }]),
    ...answer.text.map((text) => [{ text }]),
    ...(calls.length > 0 ? [calls] : []),
  ];
  return chunks.length > 0 ? chunks : [[{ text: "" }]];
}

function joined(answer: ModelAnswer, exchange: ModelExchange): object[] {
  const whole = (pieces: readonly string[]) => (pieces.length > 0 ? [pieces.join("")] : []);
  return parts({ ...answer, thinking: whole(answer.thinking), text: whole(answer.text) }, exchange).flat();
}

/** Only the first of several calls carries the signature of the thinking that led to them. */
function callParts({ toolCalls }: ModelAnswer, { number }: ModelExchange): object[] {
  const thoughtSignature = Buffer.from(`signature of message ${number}`).toString("base64");
  return toolCalls.map(({ name, input, ...made }, at) => ({
    functionCall: { name, args: input ?? {}, id: made.id ?? formatWireId("call", number, at) },
    ...(at === 0 ? { thoughtSignature } : {}),
  }));
}

function response(
  content: object[],
  stopReason: StopReason | undefined,
  usageMetadata: object,
  exchange: ModelExchange,
) {
  const finished = stopReason === undefined ? {} : { finishReason: FINISH_REASON[stopReason] };
  return {
    candidates: [{ content: { parts: content, role: "model" }, ...finished, index: 0 }],
    usageMetadata,
    modelVersion: exchange.request.model,
    responseId: formatWireId("response", exchange.number),
  };
}

/** The usage that is known before the model answers. */
function formatInputUsage({ usage }: ModelAnswer) {
  return {
    promptTokenCount: usage.input,
    totalTokenCount: usage.input,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: usage.input }],
  };
}

/** `candidatesTokenCount` excludes thoughts. This wire does not report cache writes. */
function formatUsage(answer: ModelAnswer) {
  const { input, output, reasoning, cacheRead } = answer.usage;
  return {
    ...formatInputUsage(answer),
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(cacheRead > 0
      ? { cachedContentTokenCount: cacheRead, cacheTokensDetails: [{ modality: "TEXT", tokenCount: cacheRead }] }
      : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
  };
}
