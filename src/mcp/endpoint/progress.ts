/** Tells a client how a call is getting on, no faster than it can be told. */
import type { ProgressToken, ServerNotification } from "@modelcontextprotocol/sdk/types.js";

export interface Progress extends Disposable {
  /** What is said while an earlier word is under way is put together; only the end of it is kept. */
  say(text: string): void;
}

const MAX_CHARACTERS = 2_000;

export function progressTo(
  token: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): Progress {
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
        over = true; // the connection is gone; the call hears of it by its signal
      }
    }
    sending = false;
  }

  return {
    say(text) {
      if (over || token === undefined) return;
      waiting = `${waiting}${text}`.slice(-MAX_CHARACTERS);
      if (!sending) void sendWaiting(token);
    },
    [Symbol.dispose]() {
      over = true;
    },
  };
}
