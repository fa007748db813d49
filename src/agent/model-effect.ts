/** The effect that calls the model: streams its output to the log, and journals the complete reply or the failure. */
import { z } from "zod";
import {
  isModelErrorCode,
  isRookeryError,
  messageOf,
  newId,
  type EventBody,
  type TurnContext,
} from "../domain/index.ts";
import { ModelReply, ProviderError, type CompletionMessage } from "../providers/index.ts";
import type { ToolSnapshot } from "../tools/index.ts";
import type { TurnAgent } from "./turn-agent.ts";
import { createUsageEvent } from "./usage-event.ts";

/** One attempt to call the model. */
export interface ModelAttempt {
  readonly step: number;
  readonly id: string;
  readonly messages: readonly CompletionMessage[];
}

/** Built lazily: it is needed only after a crash. */
const ModelFailure = z.lazy(() =>
  z.object({
    failed: z.object({
      code: z.string(),
      message: z.string(),
      retry: z.object({ afterMs: z.number().optional() }).optional(),
    }),
  }),
);
export type ModelFailure = z.infer<typeof ModelFailure>;
export type ModelCallOutcome = ModelReply | ModelFailure;

/** Rejects with a ProviderError if the account has reached its usage limit; the turn waits until the limit resets. */
export async function callModel(
  agent: TurnAgent,
  turn: TurnContext,
  { step, id, messages }: ModelAttempt,
): Promise<ModelCallOutcome> {
  const settled = await turn.effects.run<ModelCallOutcome>({
    key: { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "model", id },
    repeatable: true,
    perform: async () => {
      await turn.log.commit(); // a crash loses at most this request
      const messageId = newId("msg");
      const answer = await catchModelFailure(streamReply(agent, turn, messages, messageId));
      return { value: answer, events: "failed" in answer ? [] : createReplyEvents(answer, messageId, agent) };
    },
    parse: (value) => parseModelOutcome(value, (reply) => ModelReply.parse(reply)),
  });
  if (!("failed" in settled.value)) for (const { toolId } of settled.value.calls) agent.callIds.add(toolId);
  return settled.value;
}

/** Parses the journaled value of a model call that may have failed. */
export function parseModelOutcome<T>(value: unknown, parse: (value: unknown) => T): T | ModelFailure {
  const isFailed = typeof value === "object" && value !== null && "failed" in value;
  return isFailed ? ModelFailure.parse(value) : parse(value);
}

/** Resolves with the reply, or with the provider's failure. Rejects for every other error. */
export async function catchModelFailure<T>(request: Promise<T>): Promise<T | ModelFailure> {
  try {
    return await request;
  } catch (error) {
    if (!isRookeryError(error) || !isModelErrorCode(error.code)) throw error;
    const { retry, limit } = error instanceof ProviderError ? error : {};
    if (limit !== undefined) throw error;
    return { failed: { code: error.code, message: messageOf(error), ...(retry !== undefined && { retry }) } };
  }
}

async function streamReply(
  { sessionId, cacheKey = sessionId, callIds: takenIds, model, system, snapshot, onModelOutput }: TurnAgent,
  turn: TurnContext,
  messages: readonly CompletionMessage[],
  messageId: string,
): Promise<ModelReply> {
  const { log, signal } = turn;
  const blob = (hash: string) => turn.blob(hash);
  const tools = snapshot.definitions;
  const request = { system: addPreamble(system, snapshot), messages, tools, signal, blob, cacheKey, takenIds };
  let receivedText = "";
  try {
    for await (const part of model.stream(request)) {
      onModelOutput();
      switch (part.type) {
        case "text":
          receivedText += part.text;
          log.record({ type: "message.delta", messageId, text: part.text });
          break;
        case "thought":
          log.record({ type: "thought.delta", messageId, text: part.text });
          break;
        case "piece":
          break;
        case "reply":
          return part.reply;
      }
      await log.ready();
    }
  } catch (error) {
    // Text that a person saw before cancelling is part of the conversation. The partial text of a broken stream is not.
    if (signal.aborted && receivedText.trim() !== "")
      log.record({ type: "message.completed", messageId, text: receivedText });
    throw error;
  }
  throw new Error("the model's stream ended without a reply");
}

function addPreamble(system: string, { preamble }: ToolSnapshot): string {
  return preamble === "" ? system : `${system}\n\n${preamble}`;
}

function createReplyEvents(reply: ModelReply, messageId: string, { model, price }: TurnAgent): EventBody[] {
  const { text, calls, native, usage } = reply;
  const { contextSize } = model;
  const contextUsed = usage.inputTokens + usage.outputTokens;
  const toolCalls = calls.map(({ toolId, name, input }) => ({ toolId, name, input }));
  const isEmpty = text.trim() === "" && calls.length === 0;
  return [
    { type: "message.completed", messageId, text, ...(toolCalls.length > 0 && { toolCalls }), native },
    { ...createUsageEvent(reply, model.name, price), contextUsed, ...(contextSize !== undefined && { contextSize }) },
    ...(isEmpty ? [EMPTY_REPLY_NOTICE] : []),
  ];
}

const EMPTY_REPLY_NOTICE: EventBody = {
  type: "notice",
  level: "warning",
  code: "reply_empty",
  message: "the model returned an empty reply",
};
