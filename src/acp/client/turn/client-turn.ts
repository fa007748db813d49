/** One prompt: an async iterable of what comes until the agent stops, and the stop itself. */
import { methodNotFound } from "../../errors.ts";
import type * as acp from "../../schema.ts";
import { getAgentText } from "./prompt-outcome.ts";
import type { RequestItem, UpdateItem } from "../session-items.ts";

/**
 * Iterating gives what came since the last turn (`between`) and what comes in this one (`turn`), and ends with the
 * agent's stop; where the prompt fails it throws, and the session goes on. Whoever breaks off reads no more of this
 * turn: the rest is passed over, and the agent goes on unless it is cancelled.
 *
 * A turn that nobody reads makes the agent wait once 1 MiB is unread: iterate, or call `readText` or `finish`. Whoever
 * asks for `response` or `stopReason` does not make it wait: up to 64 MiB is kept then. Beyond that the turn cannot be
 * read any more, and in a session that a proxy holds `response` rejects with `input_too_large`.
 */
export interface ClientTurn extends AsyncIterable<UpdateItem | RequestItem> {
  /** The agent's response, unread updates or not; it reads nothing itself. Rejects where the prompt failed. */
  readonly response: Promise<acp.PromptResponse>;
  readonly stopReason: Promise<acp.StopReason>;
  /** Reads to the end and gives the text that the agent said in this turn. */
  readText(): Promise<string>;
  /** Reads to the end, for its response alone. */
  finish(): Promise<acp.PromptResponse>;
  /** Asks the agent to stop, and answers what it asks meanwhile with `cancelled`; does nothing once it has stopped. */
  cancel(): Promise<void>;
}

export interface ClientTurnParts {
  readonly response: Promise<acp.PromptResponse>;
  /** Undefined at the end. */
  readonly next: () => Promise<UpdateItem | RequestItem | undefined>;
  readonly discard: () => void;
  readonly cancel: () => Promise<void>;
  /** Somebody waits for the response, and may read nothing until then. */
  readonly onAwaited: () => void;
}

export function createClientTurn({ response, next, discard, cancel, onAwaited: awaited }: ClientTurnParts): ClientTurn {
  const stopReason = response.then((value) => value.stopReason);
  stopReason.catch(() => undefined); // told to whoever iterates, or asks for the response
  const read = async function* (): AsyncGenerator<UpdateItem | RequestItem> {
    let brokenOff = true;
    try {
      for (let item = await next(); item !== undefined; item = await next()) yield item;
      brokenOff = false;
    } finally {
      if (brokenOff) discard();
    }
  };
  /** Requests that only a reader would answer are refused: there is none. */
  const readUpdates = async (take: (item: UpdateItem) => void): Promise<void> => {
    for await (const item of read()) {
      if (item.kind === "update") take(item);
      else item.fail(methodNotFound(item.request.method));
    }
  };
  return {
    get response() {
      awaited();
      return response;
    },
    get stopReason() {
      awaited();
      return stopReason;
    },
    cancel,
    async readText() {
      const texts: string[] = [];
      await readUpdates(({ when, update }) => {
        if (when === "turn") texts.push(getAgentText(update));
      });
      return texts.join("");
    },
    async finish() {
      await readUpdates(() => undefined);
      return response;
    },
    [Symbol.asyncIterator]: read,
  };
}
