/** Sends progress notifications to a client, one at a time. */
import type { ProgressToken, ServerNotification } from "@modelcontextprotocol/sdk/types.js";

export interface ProgressReporter extends Disposable {
  /** Texts that arrive while a notification is being sent are joined; only the last 2,000 characters are kept. */
  report(text: string): void;
}

const MAX_CHARACTERS = 2_000;

export function makeProgressReporter(
  token: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): ProgressReporter {
  let waiting = "";
  let count = 0;
  let sending = false;
  let over = token === undefined;

  async function sendWaiting(progressToken: ProgressToken): Promise<void> {
    sending = true;
    while (waiting !== "" && !over) {
      const message = waiting;
      waiting = "";
      const params = { progressToken, progress: (count += 1), message };
      try {
        await send({ method: "notifications/progress", params });
      } catch {
        over = true; // the connection is gone; the call's signal reports that
      }
    }
    sending = false;
  }

  return {
    report(text) {
      if (over || token === undefined) return;
      waiting = `${waiting}${text}`.slice(-MAX_CHARACTERS);
      if (!sending) void sendWaiting(token);
    },
    [Symbol.dispose]() {
      over = true;
    },
  };
}
