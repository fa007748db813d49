// A scripted MCP server on stdio. Its arguments select the behavior. Writes the wire format by hand, so that it can
// misbehave.
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const behaviours = new Map(process.argv.slice(2).map((word) => [word.split("=")[0], word.split("=")[1] ?? ""]));
const does = (name) => behaviours.has(name);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (text) => does("journal") && appendFileSync(behaviours.get("journal"), `${text}\n`);
const waiting = new Map();
let asked = 0;
let renamed = false;

note("started");
if (does("stderr")) process.stderr.write("I am up\n");
if (does("noise")) process.stdout.write("Listening…\n{ half\n[1,2]\n\n");
if (does("exit")) {
  process.stderr.write("no licence found\n");
  process.exit(3);
}
if (does("ignore-term")) process.on("SIGTERM", () => undefined);

const TOOLS = [
  ["echo", "Repeats the text", { type: "object", properties: { text: { type: "string" } } }],
  ["hang", "Never answers"],
  ["slow", "Makes progress, then answers", { type: "object", properties: { steps: { type: "number" } } }],
  ["big", "Returns many bytes", { type: "object", properties: { bytes: { type: "number" } } }],
  ["fail", "Returns an error"],
  ["ask", "Asks a form"],
  ["ask-odd", "Asks a form with an unknown schema"],
  ["visit", "Asks the user to visit a page"],
  ["visit-first", "Fails until a page is visited"],
  ["sample", "Requests sampling"],
  ["wrong", "Returns content that violates its output schema"],
  ["mixed", "Returns all kinds of content"],
  ["rename", "Changes the tools while it runs"],
].map(([name, description, inputSchema = { type: "object" }]) => ({ name, description, inputSchema }));
TOOLS.find(({ name }) => name === "wrong").outputSchema = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
};
TOOLS[0].annotations = { title: "Echo", readOnlyHint: true };

function tools({ cursor } = {}) {
  if (does("odd-schemas")) {
    const schemas = [
      { type: "string" },
      5,
      { type: "object", properties: { "a b": {} } },
      { anyOf: [{ properties: { x: {} } }] },
    ];
    return {
      tools: [
        ...schemas.map((inputSchema, index) => ({ name: `odd${index}`, inputSchema })),
        { description: "none" },
        TOOLS[0],
        TOOLS[0],
      ],
    };
  }
  if (does("many")) {
    const from = Number(cursor ?? 0);
    const page = Array.from({ length: 1000 }, (_, index) => ({
      name: `t${from + index}`,
      inputSchema: { type: "object" },
    }));
    return { tools: page, nextCursor: String(from + 1000) };
  }
  if (does("circle")) return { tools: [TOOLS[0]], nextCursor: "again" };
  return { tools: renamed ? TOOLS.map((tool) => (tool.name === "echo" ? { ...tool, name: "shout" } : tool)) : TOOLS };
}

const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${(asked += 1)}`;
    waiting.set(id, resolve);
    send({ id, method, params });
  });
const text = (value) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
let visited = false;

async function call(id, { name, arguments: args, _meta }) {
  note(`call ${name}`);
  switch (name) {
    case "echo":
    case "shout":
      return text(args.text ?? "");
    case "hang":
      return new Promise(() => undefined);
    case "slow":
      for (let step = 1; step <= (args.steps ?? 5); step += 1) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        send({
          method: "notifications/progress",
          params: { progressToken: _meta.progressToken, progress: step, message: `step ${step}` },
        });
      }
      return text("done");
    case "big":
      return text("x".repeat(args.bytes));
    case "fail":
      return { ...text("it broke"), isError: true };
    case "ask":
      return text(
        await ask("elicitation/create", {
          message: "Who are you?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        }),
      );
    case "ask-odd":
      return text(
        await ask("elicitation/create", { message: "Odd?", requestedSchema: { type: "tuple", of: [1, null] } }),
      );
    case "visit": {
      const answer = ask("elicitation/create", {
        mode: "url",
        message: "Visit",
        url: "https://example.com/a",
        elicitationId: "e1",
      });
      setTimeout(() => send({ method: "notifications/elicitation/complete", params: { elicitationId: "e1" } }), 100);
      return text(await answer);
    }
    case "visit-first": {
      if (visited) return text("visited");
      visited = true;
      const elicitations = [{ mode: "url", message: "First", url: "https://example.com/first", elicitationId: "e2" }];
      throw { code: -32042, message: "visit first", data: { elicitations } };
    }
    case "sample":
      return text(
        await ask("sampling/createMessage", {
          messages: [{ role: "user", content: { type: "text", text: "hi" } }],
          maxTokens: 9,
        }),
      );
    case "wrong":
      return { ...text("unchecked"), structuredContent: { n: "one" } };
    case "mixed":
      return {
        content: [
          { type: "text", text: "first" },
          { type: "image", data: Buffer.from("PNG").toString("base64"), mimeType: "image/png" },
          { type: "resource", resource: { uri: "file:///a/b.bin", blob: Buffer.from("BIN").toString("base64") } },
          { type: "resource", resource: { uri: "file:///a/b.txt", text: "inside" } },
          { type: "resource_link", uri: "file:///a/c", name: "c" },
          { type: "hologram", data: 1 },
        ],
        structuredContent: { n: 1 },
      };
    case "rename":
      renamed = true;
      send({ method: "notifications/tools/list_changed" });
      send({ method: "notifications/prompts/list_changed" });
      send({ method: "notifications/unheard/of", params: { a: 1 } });
      return text(
        await ask("elicitation/create", { message: "Continue?", requestedSchema: { type: "object", properties: {} } }),
      );
    default:
      throw { code: -32602, message: `no tool ${name}` };
  }
}

if (does("ask-when")) {
  const looking = setInterval(async () => {
    if (!existsSync(behaviours.get("ask-when"))) return;
    clearInterval(looking);
    const { action } = await ask("elicitation/create", {
      message: "Still there?",
      requestedSchema: { type: "object" },
    });
    note(`answered ${action}`);
  }, 20).unref();
}

async function answer({ id, method, params }) {
  switch (method) {
    case "initialize":
      if (does("silent")) return undefined;
      if (does("late")) await new Promise((resolve) => setTimeout(resolve, Number(behaviours.get("late"))));
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
        serverInfo: { name: "scripted", version: "1" },
        instructions: "Use it well",
      };
    case "tools/list":
      return tools(params);
    case "tools/call":
      return call(id, params);
    case "prompts/list":
      return {
        prompts: [
          {
            name: renamed ? "inspect" : "review",
            description: "Reviews",
            arguments: [{ name: "file", required: true }],
          },
        ],
      };
    case "prompts/get":
      return { messages: [{ role: "user", content: { type: "text", text: `Review ${params.arguments.file}` } }] };
    case "resources/list":
      return { resources: [{ uri: "mem://a", name: "a", mimeType: "text/plain" }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, text: "contents" }] };
    case "ping":
      return {};
    default:
      throw { code: -32601, message: "no such method" };
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? { error: message.error });
  if (message.id === undefined) return note(`received ${message.method} ${JSON.stringify(message.params ?? {})}`);
  try {
    const result = await answer(message);
    if (result !== undefined) send({ id: message.id, result });
  } catch (error) {
    send({ id: message.id, error: error.code === undefined ? { code: -32603, message: String(error) } : error });
  }
});
process.stdin.on("end", () => !does("ignore-term") && process.exit(0));
if (does("ignore-term")) setInterval(() => undefined, 1000);
