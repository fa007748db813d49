// The baseline: a process that forwards the messages of an ACP agent to every reader over SSE.
// It stores and validates nothing, and has no backpressure: unread messages stay in its memory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [file, ...args] = JSON.parse(process.argv[2]);
const readers = new Map();
const sessions = new Map();

const server = createServer(async (request, response) => {
  const id = request.url.slice(1);
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
    readers.set(id, [...(readers.get(id) ?? []), response]);
  } else {
    const call = sessions.get(id) ?? (await openAgent(id));
    await call("session/prompt", { sessionId: call.sessionId, prompt: [{ type: "text", text: "go" }] });
    response.end("{}");
  }
});

async function openAgent(id) {
  const { stdin, stdout } = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const asked = new Map();
  let event = 0;
  createInterface({ input: stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) return asked.get(message.id)(message.result);
    const frame = `id: ${(event += 1)}\ndata: ${JSON.stringify(message.params)}\n\n`;
    for (const reader of readers.get(id) ?? []) reader.write(frame);
  });
  const call = (method, params) =>
    new Promise((resolve) => {
      asked.set(asked.size + 1, resolve);
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: asked.size, method, params })}\n`);
    });
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await call("session/new", { cwd: "/", mcpServers: [] });
  sessions.set(id, Object.assign(call, { sessionId }));
  return sessions.get(id);
}

await once(server.listen(0, "127.0.0.1"), "listening");
process.stdout.write(`${server.address().port}\n`);
