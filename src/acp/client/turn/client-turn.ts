/** One prompt: an async iterable of its items, and its response. */
import { methodNotFound } from "../../errors.ts";
import type * as acp from "../../schema.ts";
import { getAgentText } from "./prompt-outcome.ts";
import type { RequestItem, UpdateItem } from "../session-items.ts";

/**
 * Iterating yields the items since the last turn (`between`) and those of this turn (`turn`), and ends when the agent
 * stops. If the prompt fails, iterating throws; the session continues. Leaving the loop early skips the rest of this
 * turn; the agent keeps running unless you cancel it.
 *
 * A turn that nobody reads makes the agent wait once 1 MiB is unread: iterate, or call `readText` or `finish`.
 * Accessing `response` or `stopReason` stops that; then up to 64 MiB is kept. Beyond that the turn can no longer be
 * read, and in a session that a proxy holds `response` rejects with `input_too_large`.
 */
export interface ClientTurn extends AsyncIterable<UpdateItem | RequestItem> {
  /** The agent's response, even if updates are unread; reads nothing itself. Rejects if the prompt failed. */
  readonly response: Promise<acp.PromptResponse>;
  readonly stopReason: Promise<acp.StopReason>;
  /** Reads to the end and returns the agent's text of this turn. */
  readText(): Promise<string>;
  /** Reads to the end, discards the items, and returns the response. */
  finish(): Promise<acp.PromptResponse>;
  /** Asks the agent to stop, and answers its questions with `cancelled`. Does nothing once the agent has stopped. */
  cancel(): Promise<void>;
}

export interface ClientTurnParts {
  readonly response: Promise<acp.PromptResponse>;
  /** Undefined at the end. */
  readonly next: () => Promise<UpdateItem | RequestItem | undefined>;
  readonly discard: () => void;
  readonly cancel: () => Promise<void>;
  /** Called when someone waits for the response and may read nothing until then. */
  readonly onAwaited: () => void;
}

export function createClientTurn({ response, next, discard, cancel, onAwaited }: ClientTurnParts): ClientTurn {
  const stopReason = response.then((value) => value.stopReason);
  stopReason.catch(() => undefined); // the error is reported when iterating or awaiting the response
  const read = async function* (): AsyncGenerator<UpdateItem | RequestItem> {
    let brokenOff = true;
    try {
      for (let item = await next(); item !== undefined; item = await next()) yield item;
      brokenOff = false;
    } finally {
      if (brokenOff) discard();
    }
  };
  /** Refuses requests that only a reader would answer, because there is none. */
  const readUpdates = async (take: (item: UpdateItem) => void): Promise<void> => {
    for await (const item of read()) {
      if (item.kind === "update") take(item);
      else item.fail(methodNotFound(item.request.method));
    }
  };
  return {
    get response() {
      onAwaited();
      return response;
    },
    get stopReason() {
      onAwaited();
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
