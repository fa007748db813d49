// An ACP agent that writes the lines of a file for each prompt, unchecked, and waits for answers to its requests.
// It reads the file for each message, so a test can change it while the agent runs.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , folder] = process.argv;
const SESSION = "session-1";
const USUAL = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  "session/new": { sessionId: SESSION },
  "session/prompt": { stopReason: "end_turn" },
};
const waiting = new Map();

const write = (line) => process.stdout.write(`${line}\n`);
const given = (name) => {
  try {
    return readFileSync(`${folder}/${name}`, "utf8");
  } catch {
    return undefined;
  }
};
const say = (text) => {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  write(JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: SESSION, update } }));
};

async function prompted(params) {
  const text = (params.prompt ?? []).map((block) => block.text ?? "").join(" ");
  if (text.endsWith("leave")) process.exit(0);
  const name = /run (\S+)/.exec(text)?.[1];
  if (name === undefined) {
    say("fine");
    return undefined;
  }
  const lines = (given(`${name}.lines`) ?? "").split("\n").filter((line) => line !== "");
  for (const line of lines) {
    const id = /^\{"jsonrpc":"2.0","id":"(\w+)"/.exec(line)?.[1];
    const answered = id === undefined ? undefined : new Promise((resolve) => waiting.set(id, resolve));
    write(line);
    await answered;
  }
  return given(`${name}.result`);
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.();
  if (id === undefined) return;
  if (method === "session/load") appendFileSync(`${folder}/loads`, "1");
  const result = method === "session/prompt" ? await prompted(params) : given(method.replace("/", "-"));
  write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result ?? JSON.stringify(USUAL[method] ?? {})}}`);
});
