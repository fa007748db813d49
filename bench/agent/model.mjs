// A model that the prompt controls: `steps=5 delay=200` calls a tool five times, each after 200 ms, and then answers;
// `pieces=100 every=20` answers in chunks that contain their time; `hold` delays the answer until POST /release.
// As a program, it prints its URL. It runs in a separate process to keep its work out of the measurement.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A monotonic time in milliseconds that all processes of the machine share. */
export function now() {
  return performance.timeOrigin + performance.now();
}

/** Starts the model. Resolves with `{ url, held(), release(), close() }`. */
export async function startModel() {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--serve"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {},
  });
  const [line] = await Promise.race([
    new Promise((resolve) => child.stdout.once("data", (data) => resolve([String(data)]))),
    new Promise((_, reject) => child.once("exit", () => reject(new Error("the model did not start")))),
  ]);
  const url = line.trim();
  return {
    url,
    held: async () => Number(await (await fetch(`${url}/held`)).text()),
    release: async () => void (await fetch(`${url}/release`, { method: "POST" })),
    close: () => {
      child.stdin.end(); // exits when its input ends
      return new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

function serve() {
  let held = [];
  const server = createServer({ keepAlive: true }, (request, response) => {
    if (request.url === "/held") return response.end(String(held.length));
    let body = "";
    request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", () => {
      if (request.url === "/release") {
        for (const go of held.splice(0)) go();
        return response.end();
      }
      const hold = () => new Promise((resolve) => held.push(resolve));
      answer(JSON.parse(body), response, hold).catch(() => response.destroy());
    });
  });
  process.stdin.on("end", () => process.exit()).resume();
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}

async function answer({ messages }, response, hold) {
  const wanted = {};
  for (const [, name, value] of textOf(messages).matchAll(/(\w+)=(\d+)/g)) wanted[name] = Number(value);
  const { steps = 0, delay = 0, pieces = 1, every = 0 } = wanted;
  const taken = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(isResult).length;
  if (delay > 0) await sleep(delay);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = {
    id: `msg_${taken}`,
    type: "message",
    role: "assistant",
    model: "bench",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  send({ type: "message_start", message });
  const calls = taken < steps;
  if (calls) {
    send({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: `toolu_${taken}`, name: "read", input: {} },
    });
    send({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: '{"path":"file"}' },
    });
  } else {
    if (textOf(messages).includes("hold")) await hold();
    send({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    for (let piece = 0; piece < pieces; piece += 1) {
      if (every > 0) await sleep(every);
      send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `${now().toFixed(3)};` } });
    }
  }
  send({ type: "content_block_stop", index: 0 });
  send({
    type: "message_delta",
    delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null },
    usage: { output_tokens: 5 },
  });
  send({ type: "message_stop" });
  response.end();
}

function textOf([first]) {
  return typeof first.content === "string" ? first.content : first.content.map(({ text = "" }) => text).join("");
}

function isResult({ type }) {
  return type === "tool_result";
}

if (process.argv[2] === "--serve") serve();
