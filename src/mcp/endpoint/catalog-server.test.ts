import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DisposeStack } from "../../stdx/index.ts";
import { LoopbackHttp } from "./loopback.ts";
import { serveStdio } from "./stdio.ts";
import { PIXEL, testCatalog } from "./test-catalog.ts";

let scene: DisposeStack;
let catalog: ReturnType<typeof testCatalog>;

beforeEach(() => {
  scene = new DisposeStack();
  catalog = testCatalog();
});
afterEach(() => scene[Symbol.asyncDispose]());

async function overHttp(): Promise<Client> {
  const { spec } = scene.use(await LoopbackHttp.listen()).serve(catalog.server);
  const transport = new StreamableHTTPClientTransport(new URL(spec.url), { requestInit: { headers: spec.headers } });
  const listens = vi.spyOn(globalThis, "fetch");
  const client = await connected(transport);
  // A notification without a listener is not repeated, so wait for the stream.
  await vi.waitFor(async () => {
    const gets = listens.mock.calls.flatMap(([, init], index) => (init?.method === "GET" ? [index] : []));
    expect(gets).not.toEqual([]);
    await listens.mock.results[gets[0] ?? 0]?.value;
  });
  listens.mockRestore();
  return client;
}

async function overStdio(): Promise<Client> {
  const { client } = await stdio();
  return client;
}

/** The SDK's server transport also works for a client: it reads and writes lines. */
async function stdio() {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  output.on("data", (chunk: Buffer) => lines.push(...chunk.toString().trim().split("\n")));
  const ended = serveStdio(catalog.server, { input, output });
  scene.use({ [Symbol.asyncDispose]: () => (input.end(), ended) });
  return { client: await connected(new StdioServerTransport(output, input)), input, output, ended, lines };
}

async function connected(transport: Parameters<Client["connect"]>[0]): Promise<Client> {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(transport);
  scene.use({ [Symbol.asyncDispose]: () => client.close() });
  return client;
}

describe.each([
  ["HTTP", overHttp],
  ["stdio", overStdio],
])("over %s the official client", (_, connect) => {
  it("sees the filtered catalog and nothing else", async () => {
    const client = await connect();
    const { tools, nextCursor } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(catalog.tools.snapshot().definitions.map(({ name }) => name));
    expect(tools.map(({ name }) => name)).not.toContain("hidden");
    expect(nextCursor).toBeUndefined();
    expect(tools.find(({ name }) => name === "weigh")).toMatchObject({
      title: "Weigh it",
      description: "Does weigh.",
      outputSchema: { required: ["kg"] },
      annotations: { readOnlyHint: true },
    });
    expect(tools.find(({ name }) => name === "erase")?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    });
  });

  it("calls a tool through the gate", async () => {
    const client = await connect();
    expect(await client.callTool({ name: "echo", arguments: { a: 1 } })).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
    });
    expect(await client.callTool({ name: "erase" })).toEqual({
      content: [{ type: "text", text: "not here" }],
      isError: true,
    });
    expect(catalog.asked).toEqual(["run echo", "run erase"]);
  });

  it.each(["hidden", "nothing_of_the_kind"])("cannot call %s, which is not in the catalog", async (name) => {
    const client = await connect();
    expect(await client.callTool({ name })).toMatchObject({ isError: true });
    expect(catalog.asked).toEqual([]);
  });

  it("is notified of real changes and lists the new catalog", async () => {
    const client = await connect();
    const told = vi.fn();
    client.setNotificationHandler(ToolListChangedNotificationSchema, told);
    catalog.change();
    catalog.change("late");
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("late");
    catalog.change();
    await client.callTool({ name: "echo" });
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("receives progress", async () => {
    const client = await connect();
    const heard: string[] = [];
    const onprogress = ({ message = "" }) => void heard.push(message);
    expect(await client.callTool({ name: "steps" }, undefined, { onprogress })).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(heard[0]).toBe("one ");
  });

  it("cancels a call", async () => {
    const client = await connect();
    const controller = new AbortController();
    const call = client.callTool({ name: "hang" }, undefined, { signal: controller.signal });
    await catalog.hanging;
    controller.abort();
    await expect(call).rejects.toThrow();
    await catalog.stopped;
    expect(await client.callTool({ name: "echo" })).toMatchObject({ content: [{ text: "{}" }] });
  });

  it("receives images, and a note for missing ones", async () => {
    const client = await connect();
    expect(await client.callTool({ name: "draw" })).toEqual({
      content: [
        { type: "image", data: Buffer.from(PIXEL).toString("base64"), mimeType: "image/png" },
        { type: "text", text: "(h-gone (audio/wav) is no longer available)" },
      ],
    });
  });

  it("receives links to files and large images, and can read only those", async () => {
    const client = await connect();
    await expect(client.readResource({ uri: "rookery-blob:h-report" })).rejects.toThrow("there is no resource");
    expect(await client.callTool({ name: "report" })).toEqual({
      content: [
        { type: "text", text: "see there" },
        { type: "resource_link", uri: "rookery-blob:h-report", name: "report.pdf", mimeType: "application/pdf" },
        { type: "resource_link", uri: "rookery-blob:h-large", name: "h-large", mimeType: "image/png" },
      ],
    });
    expect(await client.readResource({ uri: "rookery-blob:h-report" })).toMatchObject({
      contents: [{ blob: Buffer.from("the report").toString("base64") }],
    });
    await expect(client.readResource({ uri: "rookery-blob:h-secret" })).rejects.toThrow("there is no resource");
  });

  it("receives structured results, and an error if a declared one is missing", async () => {
    const client = await connect();
    await client.listTools();
    expect(await client.callTool({ name: "weigh" })).toMatchObject({ structuredContent: { kg: 5 } });
    expect(await client.callTool({ name: "weighBadly" })).toMatchObject({
      isError: true,
      content: [{ text: "5 kg" }, { text: expect.stringContaining("without the structured result") as unknown }],
    });
    expect(await client.callTool({ name: "fail" })).toEqual({
      content: [{ type: "text", text: "The call failed." }],
      isError: true,
    });
  });

  it("pages through thousands of tools of one snapshot", async () => {
    catalog.change(...Array.from({ length: 2_500 }, (_, index) => `tool_${index}`));
    const client = await connect();
    const first = await client.listTools();
    catalog.change("aaa_in_between");
    const second = await client.listTools({ cursor: first.nextCursor });
    const third = await client.listTools({ cursor: second.nextCursor });
    const names = [first, second, third].flatMap(({ tools }) => tools.map(({ name }) => name));
    expect([first.tools.length, second.tools.length, third.nextCursor]).toEqual([1_000, 1_000, undefined]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain("aaa_in_between");
    await expect(client.listTools({ cursor: "7" })).rejects.toThrow("there is no such page");
    await expect(client.listTools({ cursor: "9000" })).rejects.toThrow("there is no such page");
  });
});

it("unsubscribes from changes and cancels calls when the endpoint is disposed", async () => {
  const endpoint = scene.use(await LoopbackHttp.listen()).serve(catalog.server);
  const { url, headers } = endpoint.spec;
  const client = await connected(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const call = client.callTool({ name: "hang" });
  call.catch(() => undefined);
  await catalog.hanging;
  expect(catalog.listening()).toBe(1);
  await endpoint[Symbol.asyncDispose]();
  await catalog.stopped;
  expect(catalog.listening()).toBe(0);
});

describe("serveStdio", () => {
  it("ends with its input and leaves nothing running", async () => {
    const { client, input, ended, lines } = await stdio();
    const call = client.callTool({ name: "hang" });
    call.catch(() => undefined);
    await catalog.hanging;
    input.end();
    await ended;
    await catalog.stopped;
    expect(catalog.listening()).toBe(0);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });

  it.each([
    ["the reader of the output goes away", ({ output }: Streams) => void output.destroy()],
    ["the input fails", ({ input }: Streams) => void input.destroy(new Error("broken"))],
    ["a line exceeds the limit", ({ input }: Streams) => void input.write("x".repeat(17 * 1024 * 1024))],
  ])("ends if %s", async (_, happen) => {
    const streams = await stdio();
    streams.input.on("error", () => undefined);
    happen(streams);
    await streams.ended;
    expect(catalog.listening()).toBe(0);
  });

  it("ends when its signal fires", async () => {
    const controller = new AbortController();
    const streams = { input: new PassThrough(), output: new PassThrough() };
    const ended = serveStdio(catalog.server, streams, { signal: controller.signal });
    controller.abort();
    await ended;
    expect(catalog.listening()).toBe(0);
  });

  it("ignores lines that are not messages", async () => {
    const { client, input } = await stdio();
    input.write("noise\n{}\n");
    expect(await client.callTool({ name: "echo" })).toMatchObject({ content: [{ text: "{}" }] });
  });
});

type Streams = Awaited<ReturnType<typeof stdio>>;
