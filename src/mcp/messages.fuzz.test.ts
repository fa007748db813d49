import { expect, it } from "vitest";
import type { McpTransport } from "../domain/index.ts";
import { Random } from "../programs/test-fuzz.ts";
import { mutateField } from "../programs/test-mutations.ts";
import { openTestServers } from "./test-servers.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : 40;
const AT_ONCE = 20;
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

interface Message {
  readonly id?: number;
  readonly method?: string;
}

/** The results of a server for each request. */
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged: true }, prompts: {}, resources: {}, logging: {} },
    serverInfo: { name: "s", title: "S", version: "1" },
    instructions: "Use it well.",
  },
  "tools/list": {
    tools: [
      {
        name: "echo",
        title: "Echo",
        description: "Repeats the text",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        outputSchema: { type: "object", properties: { text: { type: "string" } } },
        annotations: { readOnlyHint: true },
      },
    ],
  },
  "prompts/list": { prompts: [{ name: "p", description: "d", arguments: [{ name: "a", required: true }] }] },
  "resources/list": { resources: [{ uri: "file:///a", name: "a", mimeType: "text/plain" }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "file:///{a}", name: "a" }] },
  "tools/call": {
    content: [
      { type: "text", text: "hi" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a", text: "a" } },
      { type: "resource_link", uri: "file:///a", name: "a" },
    ],
    structuredContent: { text: "hi" },
    isError: false,
  },
};

/** What the server sends by itself after a response. */
const UNASKED: readonly object[] = [
  { method: "notifications/tools/list_changed" },
  { method: "notifications/message", params: { level: "info", logger: "l", data: "said" } },
  { method: "notifications/progress", params: { progressToken: 1, progress: 1, total: 2, message: "m" } },
  {
    id: 900,
    method: "elicitation/create",
    params: { message: "m", requestedSchema: { type: "object", properties: {} } },
  },
  { id: 901, method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } },
  { id: 902, method: "roots/list" },
];

it(
  "survives mutated messages of a server: other servers work and calls end",
  async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const problems: string[] = [];
      let next = FIRST_SEED;
      const work = async () => {
        while (next < FIRST_SEED + CASES) {
          const seed = next++;
          const problem = await playOne(seed).catch((error: unknown) => String(error));
          if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(problems).toEqual([]);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  },
  isWhole ? 1_200_000 : 60_000,
);

async function playOne(seed: number): Promise<string | undefined> {
  const random = new Random(seed);
  const bad = { connect: (transport: McpTransport) => answerBy(transport, (message) => mutated(random, message)) };
  const good = { connect: (transport: McpTransport) => answerBy(transport, JSON.stringify) };
  await using s = openTestServers(
    [
      { type: "memory", name: "bad", connectTimeoutMs: 500, timeoutMs: 500, open: () => bad },
      { type: "memory", name: "good", open: () => good },
    ],
    { attended: false, bounds: { retries: 1, retryFirstMs: 1, retryLastMs: 1 } },
  );
  await s.ready("good");
  await s.servers.settled({ signal: AbortSignal.timeout(5_000) });
  s.state("bad");
  const names = s.state("bad").tools.map(({ name }) => name);
  for (const name of names) await s.call(name, { text: "x" });
  const { outcome } = await s.call("good__echo", { text: "x" });
  return outcome === "ok" ? undefined : `the call on the good server ended with ${outcome}`;
}

/** Mutates about half of the messages. */
function mutated(random: Random, message: object): string {
  return random.chance(0.5) ? mutateField(random, message) : JSON.stringify(message);
}

/** Serves a connection with the canned results, written by `write`. */
async function answerBy(transport: McpTransport, write: (message: object) => string): Promise<void> {
  const wire = transport as McpTransport & { onmessage?: (message: Message) => void };
  let unasked = 0;
  const send = async (message: object): Promise<void> => {
    let parsed: object;
    try {
      parsed = JSON.parse(write({ jsonrpc: "2.0", ...message })) as object;
    } catch {
      return; // the transport handles lines that are not JSON
    }
    await wire.send(parsed).catch(() => undefined);
  };
  wire.onmessage = ({ id, method = "" }) => {
    if (id === undefined) return;
    void send({ id, result: RESULTS[method] ?? {} }).then(() => {
      const more = UNASKED[unasked++];
      return more === undefined ? undefined : send(more);
    });
  };
  await wire.start();
}
