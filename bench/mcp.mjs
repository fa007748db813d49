// Measures the time to connect to MCP servers, compared with the slowest of them, and the overhead of a call over the SDK's.
// Run it with `node bench/mcp.mjs [--quick]`. The candidates take turns, so that load on the machine affects all of them.
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openServers } from "../dist/mcp/index.js";
import { median, printAlone } from "./table.mjs";

const SERVER = fileURLToPath(new URL("./mcp/server.mjs", import.meta.url));
const SERVERS = 20;
/** The startup time of the slowest server, like a real one that is downloaded or compiled first. The others are faster. */
const SLOWEST_MS = 2_000;
const ENV = { PATH: process.env.PATH, HOME: tmpdir() };

export async function run({ quick = false } = {}) {
  return [
    ...(await connecting({ rounds: quick ? 1 : 5 })),
    ...(await calling({ calls: quick ? 300 : 3_000, rounds: quick ? 3 : 7 })),
  ];
}

async function connecting({ rounds }) {
  const alone = [];
  const together = [];
  const specs = Array.from({ length: SERVERS }, (_, index) => spec(`s${index}`, (SLOWEST_MS * (index + 1)) / SERVERS));
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await ready(specs.slice(-1)));
    together.push(await ready(specs));
  }
  const ratio = median(together) / median(alone);
  return [
    { name: "floor: the slowest server alone, until its tools are there", value: median(alone), unit: "ms" },
    {
      name: `${SERVERS} stdio servers at once, until all tools are there`,
      value: median(together),
      unit: "ms",
      ratio,
      target: "≤ 1.3× floor",
      ok: ratio <= 1.3,
    },
  ];
}

async function ready(specs) {
  const since = performance.now();
  const servers = open(specs);
  await servers.settled({ signal: AbortSignal.timeout(60_000) });
  const took = performance.now() - since;
  const bad = servers.snapshot().servers.find(({ status }) => status !== "ready");
  await servers[Symbol.asyncDispose]();
  if (bad !== undefined) throw new Error(`${bad.name} is ${bad.status}: ${bad.reason}`);
  return took;
}

async function calling({ calls, rounds }) {
  const servers = open([spec("s", 0)]);
  await servers.settled({ signal: AbortSignal.timeout(60_000) });
  const source = servers.sources[0];
  const context = {
    ...{ cwd: tmpdir(), marker: "bench", signal: new AbortController().signal, progress: () => undefined },
    ...{ record: async () => undefined, ask: async () => ({ action: "decline" }), putBlob: async () => "" },
  };
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER, "0"], env: ENV }));
  await client.listTools();
  const figures = { sdk: [], ours: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (let call = 0; call < calls; call += 1) {
      const text = `call ${call}`;
      figures.sdk.push(await timed(() => client.callTool({ name: "echo", arguments: { text } })));
      figures.ours.push(await timed(() => source.call({ toolId: "t", name: "s__echo", input: { text } }, context)));
    }
  }
  await Promise.all([client.close(), servers[Symbol.asyncDispose]()]);
  const [sdk, ours] = [median(figures.sdk), median(figures.ours)];
  const added = ours - sdk;
  return [
    { name: "floor: a call through the MCP SDK 1.32.2 alone, p50", value: sdk, unit: "ms" },
    { name: "a call through a source, p50", value: ours, unit: "ms", ratio: ours / sdk },
    { name: "what it adds", value: Math.max(0, added), unit: "ms", target: "≤ 1 ms", ok: added <= 1 },
  ];
}

async function timed(work) {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

function open(servers) {
  return openServers({ servers, cwd: tmpdir(), env: ENV, marker: `bench-${process.pid}` });
}

function spec(name, readyMs) {
  return { type: "stdio", name, command: process.execPath, args: [SERVER, String(readyMs)], env: {} };
}

await printAlone(import.meta.url, "MCP servers", run);
