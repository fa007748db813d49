/** The effect of asking the model: streams its words into the log, and journals the whole reply. */
import { newId, type EventBody, type TurnContext } from "../domain/index.ts";
import { ModelReply, type Message } from "../providers/index.ts";
import type { Artifact } from "../tools/index.ts";
import type { Acting } from "./open.ts";
import { usageEvent } from "./price.ts";

export async function callModel(
  agent: Acting,
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
  { model, system, artifact, heard }: Acting,
  turn: TurnContext,
  messages: readonly Message[],
  messageId: string,
): Promise<ModelReply> {
  const { log, signal } = turn;
  const blob = (hash: string) => turn.blob(hash);
  let said = "";
  try {
    const request = { system: withPreamble(system, artifact), messages, tools: artifact.definitions, signal, blob };
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

function eventsOf(reply: ModelReply, messageId: string, agent: Acting): EventBody[] {
  const { text, calls, native } = reply;
  const toolCalls = calls.map(({ toolId, name, input }) => ({ toolId, name, input }));
  return [
    { type: "message.completed", messageId, text, ...(toolCalls.length > 0 && { toolCalls }), native },
    usageEvent(reply, agent.model.name, agent.price),
  ];
}
