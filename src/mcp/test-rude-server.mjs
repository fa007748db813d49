// A misbehaving MCP server on stdio. Its argument selects the behavior. Writes the wire format by hand.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";

const how = process.argv[2];
/** Deeper than JSON.stringify can serialize. */
const deep = () => `${'{"items":'.repeat(20_000)}{}${"}".repeat(20_000)}`;
const json = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }).replace('"DEEP"', deep);
const write = (message) => process.stdout.write(`${json(message)}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const object = { type: "object" };
const long = "x".repeat(1_000_000);
const answers = new Map();
let lists = 0;
let asked = 0;

function request(method, params) {
  const id = `mine-${(asked += 1)}`;
  write({ id, method, params });
  return new Promise((resolve) => answers.set(id, resolve));
}

function initialized(params) {
  if (how === "refuses to initialize") throw { code: -32001, message: "no seat is free" };
  if (how === "has an old protocol version") return { ...greeting(params), protocolVersion: "1999-01-01" };
  if (how === "half a line") return void process.stdout.write('{"jsonrpc":"2.0","id":0,"resu');
  if (how === "asks before initialization") {
    void request("roots/list");
    void request("no/such/thing");
    write({ method: "notifications/message", params: { level: "info", data: "early" } });
  }
  return greeting(params);
}

function greeting(params) {
  return {
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "rude", version: "1" },
    ...(how === "long texts" && { instructions: long }),
  };
}

async function listed({ cursor } = {}) {
  lists += 1;
  if (how === "refuses to list") throw { code: -32603, message: "the database is locked" };
  const tool = { name: "go", inputSchema: object };
  const bad = { name: "bad", inputSchema: { type: "string" } };
  if (how === "changes while it lists") {
    if (lists === 1) write({ method: "notifications/tools/list_changed" });
    if (lists === 1) return { tools: [{ ...tool, name: "old" }], nextCursor: "2" };
    if (cursor === undefined) return { tools: [{ ...tool, name: "new" }] };
    await new Promise((resolve) => setTimeout(resolve, 200)); // so that the older list completes last
    return { tools: [] };
  }
  if (how === "long texts") return { tools: [{ ...tool, title: long, description: long }] };
  if (how === "wide schema")
    return {
      tools: [{ name: "wide", inputSchema: { ...object, properties: { a: { enum: Array(300_000).fill(1) } } } }, tool],
    };
  if (how === "deep output schema") return { tools: [{ ...tool, outputSchema: { ...object, items: "DEEP" } }] };
  if (how === "slow pattern") {
    const properties = { a: { type: "string", pattern: "^(a+)+$" }, n: { type: "number" } };
    return { tools: [{ ...tool, outputSchema: { ...object, properties } }] };
  }
  if (how === "endless schemas") {
    const inputSchema = { ...object, description: "x".repeat(100_000) };
    return { tools: [{ name: `t${cursor ?? 0}`, inputSchema }], nextCursor: String(Number(cursor ?? 0) + 1) };
  }
  if (how === "changes forever") return { tools: [bad, tool] };
  return { tools: [tool] };
}

async function called(id, { _meta }) {
  switch (how) {
    case "long texts":
      write({
        method: "notifications/progress",
        params: { progressToken: _meta.progressToken, progress: 1, message: long },
      });
      await request("elicitation/create", { message: long, requestedSchema: object });
      throw { code: -32000, message: long };
    case "huge form": {
      const answer = await request("elicitation/create", { message: "?", requestedSchema: { ...object, title: long } });
      return text(answer.error.message);
    }
    case "slow pattern":
      return { ...text("done"), structuredContent: { a: `${"a".repeat(40)}!`, n: "one" } };
    case "asks forever": {
      let cancelled = 0;
      for (let times = 0; times < 300; times += 1) {
        const { result } = await request("elicitation/create", { message: "?", requestedSchema: object });
        if (result.action === "cancel") cancelled += 1;
      }
      return text(`${cancelled} cancelled`);
    }
    case "samples": {
      const params = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 1 };
      const all = await Promise.all(Array.from({ length: 100 }, () => request("sampling/createMessage", params)));
      return text(`${all.filter(({ error }) => error !== undefined).length} of ${all.length} refused`);
    }
    case "changes forever": {
      const before = lists;
      const timer = setInterval(() => write({ method: "notifications/tools/list_changed" }), 5);
      while (lists < before + 3) await new Promise((resolve) => setTimeout(resolve, 5));
      clearInterval(timer);
      return text("listed");
    }
    case "progress forever":
      for (let progress = 1; progress <= 5_000; progress += 1)
        write({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress } });
      return text("done");
    case "answers twice":
      write({ method: "notifications/progress", params: { progressToken: "nobody's", progress: 1 } });
      write({ method: "notifications/progress", params: {} });
      write({ method: "notifications/cancelled", params: { requestId: "nobody's" } });
      write({ id: "nobody's", result: {} });
      write({ id: "nobody's", error: { code: 1, message: "no" } });
      write({ id: null, result: null });
      write({ id, result: text("first") });
      return text("second");
    case "closes its input":
      closeSync(0);
      write({ id, result: text("closed") });
      setInterval(() => undefined, 1_000);
      return undefined;
    case "leaves a child":
      spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      return process.exit(5);
    default:
      return text("done");
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return answers.get(id)?.(answer);
  try {
    const result = { initialize: () => initialized(params), "tools/list": () => listed(params) }[method];
    const answer = await (result ?? (() => (method === "tools/call" ? called(id, params) : undefined)))();
    if (answer !== undefined && id !== undefined) write({ id, result: answer });
  } catch (error) {
    write({ id, error });
  }
});
