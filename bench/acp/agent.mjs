// A scripted agent: sends as many updates as a prompt requests, as fast as they are read, and echoes anything else.
import { once } from "node:events";
import { createInterface } from "node:readline";

const IN_A_CHUNK = 500;
const content = { type: "text", text: "update ".padEnd(200, ".") };
const params = { sessionId: "s1", update: { sessionUpdate: "agent_message_chunk", content } };
const UPDATE = `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`;
const CHUNK = UPDATE.repeat(IN_A_CHUNK);

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  "session/new": () => ({ sessionId: "s1" }),
  "session/prompt": async ({ prompt: [{ text }] }) => {
    for (let left = Number(text); left > 0; left -= IN_A_CHUNK) {
      if (!process.stdout.write(left < IN_A_CHUNK ? UPDATE.repeat(left) : CHUNK)) await once(process.stdout, "drain");
    }
    return { stopReason: "end_turn" };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = method in answers ? await answers[method](params) : params;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
