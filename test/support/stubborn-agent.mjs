// Agents that are hard to end. `node stubborn-agent.mjs KIND DIALECT` says "up" in a turn and never exits.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [kind, dialect] = process.argv.slice(2);
const SESSION = "11111111-1111-4111-8111-111111111111";

if (kind === "wrapped") {
  // Like npx: a shell that waits for the program and forwards no signals.
  const args = [JSON.stringify(process.execPath), JSON.stringify(process.argv[1]), "deaf", dialect].join(" ");
  spawn("sh", ["-c", `${args}; :`], { stdio: "inherit" }).on("exit", () => process.exit(1));
} else {
  if (kind === "deaf") for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
  if (kind === "stray") await leave();
  setInterval(() => undefined, 60_000);
  speak();
}

/** Starts a process in another process group that ignores signals. */
async function leave() {
  const stray = spawn("setsid", ["sh", "-c", "trap '' TERM HUP INT; echo out; while :; do sleep 1; done"], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  await new Promise((resolve) => stray.stdout.once("data", resolve));
  stray.stdout.destroy();
  stray.unref();
}

function speak() {
  if (dialect === "command") return void process.stdout.write("up\n");
  createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
}

function answer(message) {
  if (dialect === "claude-code") return asClaude(message);
  const { id, method } = message;
  const results = { initialize: { protocolVersion: 1, agentCapabilities: {} }, "session/new": { sessionId: SESSION } };
  if (results[method] !== undefined) return say({ jsonrpc: "2.0", id, result: results[method] });
  if (method !== "session/prompt") return;
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "up" } };
  say({ jsonrpc: "2.0", method: "session/update", params: { sessionId: SESSION, update } });
}

function asClaude({ type, request_id, request }) {
  if (type === "control_request" && request.subtype === "initialize") {
    say({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
  }
  if (type !== "user") return;
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "up" } };
  say({ type: "stream_event", event: delta, session_id: SESSION, parent_tool_use_id: null });
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
