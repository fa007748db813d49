/** The effect that waits before a model request is retried. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TurnContext } from "../domain/index.ts";
import type { TurnEffect } from "./machine.ts";
import type { TurnAgent } from "./turn-agent.ts";

/** Random share that is added to the delay, so that sessions that were rejected together do not retry together. */
const JITTER = 0.2;

export async function waitBeforeRetry(
  { sessionId }: TurnAgent,
  { turnId, effects, signal }: TurnContext,
  { step, id, ms, message, next, of }: Extract<TurnEffect, { type: "wait" }>,
): Promise<void> {
  const notice = `${message}; retrying (${next} of ${of}) in ${(ms / 1000).toFixed(1)} s`;
  await effects.run<null>({
    key: { sessionId, turnId, step, kind: "sleep", id },
    repeatable: true,
    started: [{ type: "notice", level: "warning", code: "provider_retry", message: notice }],
    perform: async () => {
      await sleep(ms * (1 + Math.random() * JITTER), undefined, { signal });
      return { value: null };
    },
    parse: () => null,
  });
}
