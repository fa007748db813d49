/** The effect of summarizing a conversation that has become too long; the log keeps all of it. */
import { z } from "zod";
import { formatInput, type TurnContext } from "../domain/index.ts";
import { mapInLoopSlices } from "../stdx/index.ts";
import type { TurnEffect } from "./machine.ts";
import type { Message, ModelReply } from "../providers/index.ts";
import { answeredFrom, orFailed, type Failed } from "./model-effect.ts";
import type { Acting } from "./open.ts";
import { usageEvent } from "./price.ts";

const INSTRUCTIONS = [
  "You are given the record of a conversation between a person and a coding agent. It has become too long to go on with.",
  "Write what the agent needs to go on as if it remembered all of it: what was asked, in the person's own terms; what was decided, and why; which files were read or changed, with the names and lines that matter; which commands were run and what came of them; what failed; what is left to do, and what comes next.",
  "Leave out what no longer matters. Invent nothing. Do not go on with the work itself.",
].join("\n");

/** Of one tool's answer, and of the arguments of one call: their beginning says what they were. */
const MOST_OF_ONE = 2_000;
/** Where nobody knows how large the context is: most models have more. */
const MOST_OF_ALL = 300_000;
const CHARACTERS_PER_TOKEN = 3;

/** With nothing in its place the conversation would be lost. */
const NOTHING: Failed = { failed: { code: "provider_failed", message: "the model wrote no summary", retry: {} } };

type Summarizing = Extract<TurnEffect, { type: "compact" }>;

/** Rejects with a ProviderError where the account may do no more for now. */
export async function summarize(agent: Acting, turn: TurnContext, asked: Summarizing): Promise<string | Failed> {
  const { step, id } = asked;
  const settled = await turn.effects.run<string | Failed>({
    key: { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "model", id },
    repeatable: true,
    perform: async () => {
      await turn.log.commit(); // as before every request
      const answer = await orFailed(summaryOf(agent, turn, asked));
      if ("failed" in answer) return { value: answer, events: [] };
      const usage = usageEvent(answer, agent.model.name, agent.price);
      if (answer.text.trim() === "") return { value: NOTHING, events: [usage] };
      await turn.log.commit();
      const compacted = { type: "context.compacted" as const, summary: answer.text, throughSeq: turn.log.head ?? 0 };
      return { value: answer.text, events: [compacted, usage] };
    },
    parse: (value) => answeredFrom(value, (text) => z.string().parse(text)),
  });
  return settled.value;
}

async function summaryOf(
  { model, heard }: Acting,
  turn: TurnContext,
  { messages, shrunk }: Summarizing,
): Promise<ModelReply> {
  const { signal } = turn;
  const record = await mapInLoopSlices(messages, (message) => `${recorded(message)}\n\n`);
  const length = record.reduce((sum, text) => sum + text.length, 0);
  const fitting = model.contextSize === undefined ? MOST_OF_ALL : (model.contextSize * CHARACTERS_PER_TOKEN) / 2;
  const most = Math.min(fitting, length) / 2 ** shrunk;
  const text = `The record:\n\n${shortened(withoutMiddle(record, most), most, length)}Write the summary now.`;
  const asked: Message = { role: "user", parts: [{ type: "text", text }] };
  const blob = () => Promise.resolve(undefined);
  for await (const part of model.stream({ system: INSTRUCTIONS, messages: [asked], tools: [], signal, blob })) {
    heard();
    if (part.type === "reply") return part.reply;
  }
  throw new Error("a model's stream ends with a reply");
}

function recorded(message: Message): string {
  switch (message.role) {
    case "user":
      return `PERSON: ${formatInput(message.parts)}`;
    case "assistant": {
      const calls = message.calls.map(
        ({ name, input }) => `CALLS ${name} ${shortened(JSON.stringify(input) ?? "", MOST_OF_ONE)}`,
      );
      return [`AGENT: ${message.text}`, ...calls].join("\n");
    }
    case "tool":
      return message.results
        .map(({ name, text, failed }) => `${failed ? "FAILED" : "RESULT OF"} ${name}: ${shortened(text, MOST_OF_ONE)}`)
        .join("\n");
  }
}

/** At least the first and the last `most` characters: a record can be a hundred times as long as what is kept of it. */
function withoutMiddle(texts: readonly string[], most: number): string {
  let [first, last, firstLength, lastLength] = [0, texts.length, 0, 0];
  for (; first < last && firstLength < most; first += 1) firstLength += texts[first]?.length ?? 0;
  for (; first < last && lastLength < most; last -= 1) lastLength += texts[last - 1]?.length ?? 0;
  return [...texts.slice(0, first), ...texts.slice(last)].join("");
}

/** What is in the middle is missed least. `length` is that of the whole text, if some of its middle is gone already. */
function shortened(text: string, most: number, length = text.length): string {
  if (length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half).toWellFormed()}\n[… ${length - 2 * half} characters left out …]\n${text.slice(-half).toWellFormed()}`;
}
