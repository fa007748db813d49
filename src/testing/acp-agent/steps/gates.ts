/** Steps that wait: for time, for a file, for a message, for the end. */

import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as timer } from "node:timers/promises";
import { isObject } from "../rpc.ts";
import type { Entry } from "../record.ts";
import { agentText } from "../updates.ts";
import type { Players } from "./play.ts";
import { sendUpdate } from "./speech.ts";

const LOOK_AGAIN_MS = 5;

type Gate = "pause" | "waitForFile" | "touch" | "waitForMessage" | "waitForCancel" | "hang" | "environment";

export const GATES: Pick<Players, Gate> = {
  pause: (ms, { waiting }) => pause(ms, waiting),

  async waitForFile(path, { waiting }) {
    while (!existsSync(path)) await pause(LOOK_AGAIN_MS, waiting);
  },

  touch(path) {
    writeFileSync(path, "");
    return Promise.resolve();
  },

  async waitForMessage(method, { stage, waiting, heard: { since, taken } }) {
    const isWanted = (entry: Entry, index: number): boolean =>
      index >= since &&
      !taken.has(entry) &&
      entry.type === "received" &&
      isObject(entry.message) &&
      entry.message["method"] === method;
    taken.add(await stage.record.find(isWanted, waiting));
  },

  waitForCancel: (_, { waiting }) => aborted(waiting),

  hang: (_, { stage }) => aborted(stage.gone),

  environment(name, scene) {
    const value = process.env[name];
    return sendUpdate(scene, agentText(value === undefined ? `${name} is not set` : `${name}=${value}`));
  },
};

/** Rejects with the signal's own reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await timer(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
