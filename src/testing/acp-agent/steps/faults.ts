/** Steps that make the agent misbehave on its streams or as a process. */

import { agentText } from "../updates.ts";
import type { StepHandlers } from "./step-handlers.ts";

const CUT_PAUSE_MS = 20;
/** The size of one write of a flood: small enough to notice a cancel soon. */
const FLOOD_BATCH_BYTES = 64 * 1024;

type Fault = "write" | "send" | "cut" | "oversize" | "flood" | "listen" | "stderr" | "exit" | "grandchild";

export const FAULT_STEPS: Pick<StepHandlers, Fault> = {
  write: (bytes, { agent }) =>
    agent.output.write(typeof bytes === "string" ? bytes : Buffer.from(bytes.base64, "base64")),

  send: (value, { agent }) => agent.output.send(value),

  async cut({ text, pauseMs = CUT_PAUSE_MS }, { agent, sessionId }) {
    const line = Buffer.from(formatUpdateLine(sessionId, text));
    const lead = line.findIndex((byte) => byte >= 0xc0);
    if (lead === -1)
      throw new Error(`the text of a cut step needs a character of several bytes: ${JSON.stringify(text)}`);
    await agent.output.writeInPieces([line.subarray(0, lead + 1), line.subarray(lead + 1)], pauseMs);
  },

  async oversize(bytes, { agent, sessionId }) {
    const around = Buffer.byteLength(formatUpdateLine(sessionId, "")) - 1;
    if (bytes < around) throw new Error(`an oversize step needs at least ${around} bytes`);
    await agent.output.write(formatUpdateLine(sessionId, "x".repeat(bytes - around)));
  },

  async flood({ count, padding = "" }, { agent, sessionId, waitSignal }) {
    let batch = "";
    for (let number = 0; number < count; number++) {
      batch += formatUpdateLine(sessionId, `${number}${padding}`);
      if (batch.length < FLOOD_BATCH_BYTES) continue;
      await agent.output.write(batch);
      waitSignal.throwIfAborted();
      batch = "";
    }
    await agent.output.write(batch);
  },

  listen(listening, { agent }) {
    agent.listen(listening);
    return Promise.resolve();
  },

  stderr(text, { agent }) {
    agent.host.stderr(text);
    return Promise.resolve();
  },

  async exit(how, { agent }) {
    await agent.output.flushed();
    await agent.host.exit(how);
  },

  async grandchild(what, { agent: { host } }) {
    if (host.leaveBehind === undefined)
      throw new Error("a grandchild step needs an agent that runs in a separate process");
    await host.leaveBehind(what);
  },
};

function formatUpdateLine(sessionId: string | undefined, text: string): string {
  const params = { sessionId, update: agentText(text) };
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params }) + "\n";
}
