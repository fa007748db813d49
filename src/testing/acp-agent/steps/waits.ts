/** Steps that wait for a time, a file, a message or a cancel, and steps that tests wait for. */

import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as timer } from "node:timers/promises";
import { isObject } from "../rpc.ts";
import type { AcpRecordEntry } from "../record.ts";
import { agentText } from "../updates.ts";
import type { StepHandlers } from "./step-handlers.ts";
import { sendUpdate } from "./say.ts";

const POLL_MS = 5;

type WaitStep = "pause" | "waitForFile" | "touch" | "waitForMessage" | "waitForCancel" | "hang" | "environment";

export const WAIT_STEPS: Pick<StepHandlers, WaitStep> = {
  pause: (ms, { waitSignal }) => pause(ms, waitSignal),

  async waitForFile(path, { waitSignal }) {
    while (!existsSync(path)) await pause(POLL_MS, waitSignal);
  },

  touch(path) {
    writeFileSync(path, "");
    return Promise.resolve();
  },

  async waitForMessage(method, { agent, waitSignal, consumed: { since, taken } }) {
    const isWanted = (entry: AcpRecordEntry, index: number): boolean =>
      index >= since &&
      !taken.has(entry) &&
      entry.type === "received" &&
      isObject(entry.message) &&
      entry.message["method"] === method;
    taken.add(await agent.record.find(isWanted, waitSignal));
  },

  waitForCancel: (_, { waitSignal }) => rejectOnAbort(waitSignal),

  hang: (_, { agent }) => rejectOnAbort(agent.gone),

  environment(name, context) {
    const value = process.env[name];
    return sendUpdate(context, agentText(value === undefined ? `${name} is not set` : `${name}=${value}`));
  },
};

/** Rejects with the signal's reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await timer(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
