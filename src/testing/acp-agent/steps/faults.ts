/** Steps in which the agent misbehaves on its streams or as a process. */

import { agentText } from "../updates.ts";
import type { Players } from "./play.ts";

const CUT_PAUSE_MS = 20;
/** What is written at once in a flood: few enough bytes that a cancel is noticed soon. */
const FLOOD_BATCH_BYTES = 64 * 1024;

type Fault = "write" | "send" | "cut" | "oversize" | "flood" | "listen" | "stderr" | "exit" | "grandchild";

export const FAULTS: Pick<Players, Fault> = {
  write: (bytes, { stage }) =>
    stage.output.write(typeof bytes === "string" ? bytes : Buffer.from(bytes.base64, "base64")),

  send: (value, { stage }) => stage.output.send(value),

  async cut({ text, pauseMs = CUT_PAUSE_MS }, { stage, sessionId }) {
    const line = Buffer.from(lineOf(sessionId, text));
    const lead = line.findIndex((byte) => byte >= 0xc0);
    if (lead === -1) throw new Error(`there is no character of several bytes to cut in ${JSON.stringify(text)}`);
    await stage.output.writeInPieces([line.subarray(0, lead + 1), line.subarray(lead + 1)], pauseMs);
  },

  async oversize(bytes, { stage, sessionId }) {
    const around = Buffer.byteLength(lineOf(sessionId, "")) - 1;
    if (bytes < around) throw new Error(`the smallest text is ${around} bytes long`);
    await stage.output.write(lineOf(sessionId, "x".repeat(bytes - around)));
  },

  async flood({ count, padding = "" }, { stage, sessionId, waiting }) {
    let batch = "";
    for (let number = 0; number < count; number++) {
      batch += lineOf(sessionId, `${number}${padding}`);
      if (batch.length < FLOOD_BATCH_BYTES) continue;
      await stage.output.write(batch);
      waiting.throwIfAborted();
      batch = "";
    }
    await stage.output.write(batch);
  },

  listen(listening, { stage }) {
    stage.listen(listening);
    return Promise.resolve();
  },

  stderr(text, { stage }) {
    stage.host.stderr(text);
    return Promise.resolve();
  },

  async exit(how, { stage }) {
    await stage.output.flushed();
    await stage.host.exit(how);
  },

  async grandchild(what, { stage: { host } }) {
    if (host.leaveBehind === undefined) throw new Error("only an agent in its own process can leave a grandchild");
    await host.leaveBehind(what);
  },
};

function lineOf(sessionId: string | undefined, text: string): string {
  const params = { sessionId, update: agentText(text) };
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params }) + "\n";
}
