/** One prompt: an async iterable of what comes until the agent stops, and the stop itself. */
import type * as acp from "../schema.ts";
import type { RequestItem, SessionItem, UpdateItem } from "./items.ts";

/** Iterating ends with the agent's stop; where the prompt fails it throws, and the session goes on. */
export interface ClientTurn extends AsyncIterable<UpdateItem | RequestItem> {
  /** The agent's response, unread updates or not. Rejects where the prompt failed. */
  readonly response: Promise<acp.PromptResponse>;
  readonly stopReason: Promise<acp.StopReason>;
  /** Reads to the end and gives the text that the agent said in this turn. */
  readText(): Promise<string>;
  /** Reads to the end, for its response alone. */
  finish(): Promise<acp.PromptResponse>;
  /** Asks the agent to stop; does nothing once it has. */
  cancel(): Promise<void>;
}

export interface TurnParts {
  readonly response: Promise<acp.PromptResponse>;
  readonly next: () => Promise<SessionItem>;
  readonly cancel: () => Promise<void>;
}

export function openTurn({ response, next, cancel }: TurnParts): ClientTurn {
  response.catch(() => undefined); // told to whoever iterates, or asks for the response
  const read = async function* (): AsyncGenerator<UpdateItem | RequestItem> {
    for (let item = await next(); item.kind !== "stop"; item = await next()) yield item;
  };
  const stopReason = response.then((value) => value.stopReason);
  stopReason.catch(() => undefined); // likewise
  return {
    response,
    stopReason,
    cancel,
    async readText() {
      let text = "";
      for await (const item of read()) if (item.kind === "update" && item.when === "turn") text += textOf(item.update);
      return text;
    },
    async finish() {
      while ((await next()).kind !== "stop");
      return response;
    },
    [Symbol.asyncIterator]: read,
  };
}

function textOf(update: acp.SessionUpdate): string {
  if (update.sessionUpdate !== "agent_message_chunk") return "";
  return update.content.type === "text" ? update.content.text : "";
}
