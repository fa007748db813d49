/** The effect of asking the model: streams its words into the log, and journals the whole reply. */
import { newId, type EventBody, type TurnContext } from "../domain/index.ts";
import { ModelReply, type Message } from "../providers/index.ts";
import type { BuiltIn } from "./open.ts";
import { costOf } from "./price.ts";

export async function callModel(
  agent: BuiltIn,
  turn: TurnContext,
  step: number,
  messages: readonly Message[],
): Promise<ModelReply> {
  const settled = await turn.effects.run<ModelReply>({
    key: { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "model", id: "reply" },
    repeatable: true,
    perform: async () => {
      const messageId = newId("msg");
      const reply = await streamed(agent, turn, messages, messageId);
      return { value: reply, events: eventsOf(reply, messageId, agent) };
    },
    parse: (value) => ModelReply.parse(value),
    lost: () => {
      throw new Error("a model call may always be repeated");
    },
  });
  return settled.value;
}

async function streamed(
  { model, system, tools }: BuiltIn,
  turn: TurnContext,
  messages: readonly Message[],
  messageId: string,
): Promise<ModelReply> {
  const { log, signal } = turn;
  const blob = (hash: string) => turn.blob(hash);
  let said = "";
  try {
    for await (const part of model.stream({ system, messages, tools: tools.list(), signal, blob })) {
      switch (part.type) {
        case "text":
          said += part.text;
          log.record({ type: "message.delta", messageId, text: part.text });
          break;
        case "thought":
          log.record({ type: "thought.delta", messageId, text: part.text });
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

function eventsOf(reply: ModelReply, messageId: string, agent: BuiltIn): EventBody[] {
  const { text, calls, usage, native } = reply;
  const toolCalls = calls.map(({ toolId, name, input }) => ({ toolId, name, input }));
  const costUsd = costOf(usage, agent.price);
  return [
    { type: "message.completed", messageId, text, ...(toolCalls.length > 0 && { toolCalls }), native },
    { type: "usage.reported", model: agent.model.name, ...usage, ...(costUsd !== undefined && { costUsd }) },
  ];
}
