// The scripted agent of ../backends.mjs: writes the same records for every reader, as Claude Code or as plain lines.
// `agent.mjs claude` waits for prompts on stdin, `agent.mjs lines '{"count":10}'` starts immediately, `deaf` only ends by SIGKILL.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [dialect, argument] = process.argv.slice(2);
const session = "00000000-0000-4000-8000-000000000000";
const TEXT = "x".repeat(180);

if (dialect === "deaf") {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
  process.stdout.write("up\n");
  setInterval(() => undefined, 60_000);
} else if (dialect === "lines") {
  await speak(JSON.parse(argument.slice(argument.lastIndexOf("{")))); // the prompt may contain earlier text
} else {
  for await (const line of createInterface({ input: process.stdin })) await answer(JSON.parse(line));
}

async function answer({ type, request_id, request, message }) {
  if (type === "control_request") {
    const response = {
      subtype: "success",
      request_id,
      response: request.subtype === "initialize" ? { commands: [] } : {},
    };
    return write(`${JSON.stringify({ type: "control_response", response })}\n`);
  }
  if (type !== "user") return;
  const { content } = message;
  const text = typeof content === "string" ? content : content.at(-1).text;
  await write(
    `${JSON.stringify({ type: "system", subtype: "init", session_id: session, model: "bench", tools: [] })}\n`,
  );
  await write(event({ type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage: {} } }));
  await write(event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }));
  await speak(JSON.parse(text));
  await write(event({ type: "content_block_stop", index: 0 }));
  await write(event({ type: "message_stop" }));
  const result = { type: "result", subtype: "success", is_error: false, result: "", session_id: session, usage: {} };
  await write(`${JSON.stringify(result)}\n`);
}

async function speak({ count, paceMs }) {
  if (paceMs === undefined) {
    for (let sent = 0; sent < count; sent += 1) await write(delta(TEXT)); // one by one, like a real program
    return;
  }
  for (let index = 0; index < count; index += 1) {
    await write(delta(`${process.hrtime.bigint()} `)); // a clock that all processes of the machine share
    await sleep(paceMs);
  }
}

function delta(text) {
  return event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
}

function event(event) {
  return `${JSON.stringify({ type: "stream_event", event, session_id: session, parent_tool_use_id: null })}\n`;
}

async function write(text) {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
