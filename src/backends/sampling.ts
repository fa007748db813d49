/** Serves MCP sampling requests with the session's model, after permission, logged and billed like other calls. */
import {
  newId,
  type EventBody,
  type PermissionDecision,
  type BetweenTurnsContext,
  type TurnContext,
} from "../domain/index.ts";
import { SamplingRefused } from "../mcp/sampling.ts";
import type { SamplingContext, SamplingReply, SamplingRequest } from "../mcp/index.ts";
import type { CompletionMessage, Model, ModelReply } from "../providers/index.ts";

export interface Sampler {
  readonly model: Model;
  readonly usageOf: (reply: ModelReply) => EventBody;
  /** Returns the running turn, if any. */
  readonly turn: () => TurnContext | undefined;
  readonly betweenTurns: () => BetweenTurnsContext | undefined;
}

/** Maximum output tokens of one request. */
const MAX_TOKENS = 16_384;
const MAX_SHOWN_LENGTH = 4_000;

export async function sample(
  { model, usageOf, turn, betweenTurns }: Sampler,
  request: SamplingRequest,
  { server, signal }: SamplingContext,
): Promise<SamplingReply> {
  const toolId = newId("tool");
  const running = turn();
  const tool = `sampling (${server})`; // no tool can have this name, so a lasting permission for a tool never covers it
  const title = `${server} asks the model`;
  const input = {
    system: request.systemPrompt,
    messages: formatSampledMessages(request),
    maxTokens: request.maxTokens,
  };
  const permission = { toolId, tool, title, kind: "think" as const, readOnly: false, input };
  const decision = await ((running ?? betweenTurns())?.permit(permission, { signal }) ?? Promise.resolve(NOT_READY));
  if (!decision.allowed) throw new SamplingRefused(decision.message);
  const record = (...bodies: EventBody[]): void =>
    running === undefined ? betweenTurns()?.record(...bodies) : running.log.record(...bodies);
  record({ type: "tool.started", toolId, name: tool, title, kind: "think", input });
  const either = AbortSignal.any([signal, ...(running ? [running.signal] : [])]);
  try {
    const reply = await requestReply(model, request, either);
    record(usageOf(reply), { type: "tool.ended", toolId, outcome: "ok", text: reply.text.slice(0, MAX_SHOWN_LENGTH) });
    const stopReason = reply.stopReason === "length" ? ("maxTokens" as const) : ("endTurn" as const);
    return { model: model.name, text: reply.text, stopReason };
  } catch (error) {
    const outcome = either.aborted ? ("cancelled" as const) : ("failed" as const);
    record({ type: "tool.ended", toolId, outcome, text: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

const NOT_READY: PermissionDecision = {
  allowed: false,
  outcome: "denied",
  message: "the session is still opening, so nobody can be asked",
};

async function requestReply(model: Model, request: SamplingRequest, signal: AbortSignal): Promise<ModelReply> {
  const { systemPrompt = "", temperature, stopSequences } = request;
  const maxTokens = Math.min(request.maxTokens, MAX_TOKENS);
  const blobs = new Map<string, Uint8Array>();
  const messages = request.messages.map((message) => toModelMessage(message, blobs));
  const blob = (hash: string) => Promise.resolve(blobs.get(hash));
  const asked = { system: systemPrompt, messages, tools: [], signal, blob, maxTokens, temperature, stopSequences };
  for await (const part of model.stream(asked)) if (part.type === "reply") return part.reply;
  throw new Error("the model stream ended without a reply");
}

function toModelMessage(
  { role, parts }: SamplingRequest["messages"][number],
  blobs: Map<string, Uint8Array>,
): CompletionMessage {
  if (role === "assistant") {
    const text = parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
    return { role, text, calls: [] };
  }
  return {
    role,
    parts: parts.map((part) => {
      if (part.type === "text") return part;
      const hash = `sampling:${blobs.size}`;
      blobs.set(hash, part.bytes);
      return { type: "blob", hash, mediaType: part.mediaType };
    }),
  };
}

function formatSampledMessages({ messages }: SamplingRequest): string {
  const lines = messages.map(({ role, parts }) => {
    return `${role}: ${parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join(" ")}`;
  });
  return lines.join("\n").slice(0, MAX_SHOWN_LENGTH);
}
