/** The effect of asking the model: streams its words into the log, and journals the whole reply, or that there is none. */
import { z } from "zod";
import {
  isModelErrorCode,
  isRookeryError,
  messageOf,
  newId,
  type EventBody,
  type TurnContext,
} from "../domain/index.ts";
import { ModelReply, ProviderError, type Message } from "../providers/index.ts";
import type { Artifact } from "../tools/index.ts";
import type { Acting } from "./open.ts";
import { usageEvent } from "./price.ts";

/** One try. */
export interface Asking {
  readonly step: number;
  readonly id: string;
  readonly messages: readonly Message[];
}

/** Read back only after a crash, so built only then. */
const Failed = z.lazy(() =>
  z.object({
    failed: z.object({
      code: z.string(),
      message: z.string(),
      retry: z.object({ afterMs: z.number().optional() }).optional(),
    }),
  }),
);
export type Failed = z.infer<typeof Failed>;
export type Answered = ModelReply | Failed;

/** Rejects with a ProviderError where the account may do no more for now: that is no outcome, it is waited for. */
export async function callModel(agent: Acting, turn: TurnContext, { step, id, messages }: Asking): Promise<Answered> {
  const settled = await turn.effects.run<Answered>({
    key: { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "model", id },
    repeatable: true,
    perform: async () => {
      await turn.log.commit(); // no more than this one request is lost with the process
      const messageId = newId("msg");
      const answer = await orFailed(streamed(agent, turn, messages, messageId));
      return { value: answer, events: "failed" in answer ? [] : eventsOf(answer, messageId, agent) };
    },
    parse: (value) => answeredFrom(value, (reply) => ModelReply.parse(reply)),
  });
  if (!("failed" in settled.value)) for (const { toolId } of settled.value.calls) agent.callIds.add(toolId);
  return settled.value;
}

/** What a journal has of a model call that may have failed. */
export function answeredFrom<T>(value: unknown, parse: (value: unknown) => T): T | Failed {
  const isFailed = typeof value === "object" && value !== null && "failed" in value;
  return isFailed ? Failed.parse(value) : parse(value);
}

/** A failure of the provider is an outcome of the call. */
export async function orFailed<T>(asked: Promise<T>): Promise<T | Failed> {
  try {
    return await asked;
  } catch (error) {
    if (!isRookeryError(error) || !isModelErrorCode(error.code)) throw error;
    const { retry, limit } = error instanceof ProviderError ? error : {};
    if (limit !== undefined) throw error;
    return { failed: { code: error.code, message: messageOf(error), ...(retry !== undefined && { retry }) } };
  }
}

async function streamed(
  { sessionId: cacheKey, callIds: takenIds, model, system, artifact, heard }: Acting,
  turn: TurnContext,
  messages: readonly Message[],
  messageId: string,
): Promise<ModelReply> {
  const { log, signal } = turn;
  const blob = (hash: string) => turn.blob(hash);
  const tools = artifact.definitions;
  const request = { system: withPreamble(system, artifact), messages, tools, signal, blob, cacheKey, takenIds };
  let said = "";
  try {
    for await (const part of model.stream(request)) {
      heard();
      switch (part.type) {
        case "text":
          said += part.text;
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
    // What a person read before cancelling is part of the conversation; half a sentence of a broken stream is not.
    if (signal.aborted && said.trim() !== "") log.record({ type: "message.completed", messageId, text: said });
    throw error;
  }
  throw new Error("a model's stream ends with a reply");
}

function withPreamble(system: string, { preamble }: Artifact): string {
  return preamble === "" ? system : `${system}\n\n${preamble}`;
}

function eventsOf(reply: ModelReply, messageId: string, { model, price }: Acting): EventBody[] {
  const { text, calls, native, usage } = reply;
  const { contextSize } = model;
  const contextUsed = usage.inputTokens + usage.outputTokens;
  const toolCalls = calls.map(({ toolId, name, input }) => ({ toolId, name, input }));
  const isEmpty = text.trim() === "" && calls.length === 0;
  return [
    { type: "message.completed", messageId, text, ...(toolCalls.length > 0 && { toolCalls }), native },
    { ...usageEvent(reply, model.name, price), contextUsed, ...(contextSize !== undefined && { contextSize }) },
    ...(isEmpty ? [EMPTY] : []),
  ];
}

const EMPTY: EventBody = {
  type: "notice",
  level: "warning",
  code: "reply_empty",
  message: "the model answered with nothing",
};
