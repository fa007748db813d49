/** The effect of waiting before a model is asked again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TurnContext } from "../domain/index.ts";
import type { TurnEffect } from "./machine.ts";
import type { Acting } from "./open.ts";

/** Many sessions that were refused together are not to come back together. */
const SPREAD = 0.2;

export async function rest(
  { sessionId }: Acting,
  { turnId, effects, signal }: TurnContext,
  { step, id, ms, message, next, of }: Extract<TurnEffect, { type: "rest" }>,
): Promise<void> {
  const how = `${message}; it is tried again (${next} of ${of}) in ${(ms / 1000).toFixed(1)} s`;
  await effects.run<null>({
    key: { sessionId, turnId, step, kind: "sleep", id },
    repeatable: true,
    started: [{ type: "notice", level: "warning", code: "provider_retry", message: how }],
    perform: async () => {
      await sleep(ms * (1 + Math.random() * SPREAD), undefined, { signal });
      return { value: null };
    },
    parse: () => null,
  });
}
