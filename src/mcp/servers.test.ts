import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { processesMarked } from "../stdx/index.ts";
import { SamplingRefused } from "./index.ts";
import { openTestServers, scriptedServer } from "./test-servers.ts";

it("opens immediately and lists a server's tools when it is ready", async () => {
  await using s = openTestServers([scriptedServer("s", "stderr")]);
  expect(s.state()).toMatchObject({ status: "connecting", tools: [] });
  const source = s.servers.sources[0]!;
  expect(source.list()).toEqual([]);
  const told = vi.fn();
  source.onChange?.(told);
  await s.servers.settled({ signal: AbortSignal.timeout(20_000) });
  expect(told).toHaveBeenCalledOnce();
  expect(s.state()).toMatchObject({ status: "ready", instructions: "Use it well" });
  expect(s.state().prompts).toMatchObject([{ name: "review", arguments: [{ name: "file", required: true }] }]);
  expect(s.state().resources).toMatchObject([{ uri: "mem://a", isTemplate: false }]);
  expect(source.list()[0]).toMatchObject({
    name: "s__echo",
    title: "Echo",
    readOnly: false,
    hints: { readOnly: true },
  });
  expect(s.servers.origin("s__ask-odd")).toEqual({ server: "s", tool: "ask-odd" });
  expect(source.describe({ toolId: "t", name: "s__echo", input: {} })).toEqual({ title: "s: Echo" });
  expect(await s.call("s__echo", { text: "hi" })).toEqual({ outcome: "ok", text: "hi" });
  expect(s.servers.snapshot()).toBe(s.servers.snapshot());
  const signal = AbortSignal.timeout(5_000);
  expect(await s.servers.getPrompt("s", "review", { args: { file: "a.ts" }, signal })).toEqual([
    { type: "text", text: "Review a.ts" },
  ]);
  expect(await s.servers.readResource("s", "mem://a", { signal })).toEqual([
    { type: "text", text: "contents", uri: "mem://a" },
  ]);
  await expect(s.servers.readResource("t", "mem://a", { signal })).rejects.toMatchObject({ code: "mcp_unknown" });
  await vi.waitFor(() => expect(s.events).toContainEqual({ type: "output.text", text: "I am up", from: "mcp s" }));
  expect(s.statuses()).toEqual(["connecting", "ready"]);
  expect(s.events.filter(({ type }) => type === "process.started")).toHaveLength(1);
  await s.servers[Symbol.asyncDispose]();
  expect(s.events.filter(({ type }) => type === "process.exited")).toHaveLength(1);
});

it.each([
  ["never answers", { ...scriptedServer("s", "silent"), connectTimeoutMs: 300 }, /did not answer within 0.3 s/],
  [
    "exits at once",
    scriptedServer("s", "exit"),
    /exited with code 3 before it answered; its last output: no licence found/,
  ],
  [
    "is not installed",
    { ...scriptedServer("s"), command: "no-such-program" },
    /cannot be started: no-such-program was not found/,
  ],
  ["is unusable", { type: "unusable" as const, name: "s", reason: "$KEY is not set" }, /\$KEY is not set/],
  ["is foreign", { type: "foreign" as const, name: "s", declaration: {} }, /only the agent/],
])("reports a server that %s as failed, and keeps the others", async (_, spec, reason) => {
  await using s = openTestServers([spec, scriptedServer("ok")]);
  await s.ready("ok");
  await vi.waitFor(
    () => expect(s.state("s")).toMatchObject({ status: "failed", reason: expect.stringMatching(reason) }),
    20_000,
  );
  expect(await s.call("s__echo")).toMatchObject({
    outcome: "failed",
    text: expect.stringMatching(/the MCP server s is not ready \(failed: /),
  });
  expect(await s.call("ok__echo", { text: "hi" })).toMatchObject({ outcome: "ok" });
});

it("ignores noise on stdout and reports it once", async () => {
  await using s = openTestServers([scriptedServer("s", "noise")]);
  await s.ready();
  expect(s.events.filter(({ type }) => type === "notice")).toMatchObject([
    { code: "mcp_noise", message: expect.stringContaining("Listening") },
  ]);
});

it("ignores tools with unsupported schemas by name and keeps the others", async () => {
  await using s = openTestServers([scriptedServer("s", "odd-schemas")]);
  await s.ready();
  expect(s.state().tools.map(({ name }) => name)).toEqual(["s__odd3", "s__echo"]);
  expect(s.state().tools[0]?.inputSchema).toEqual({ type: "object", properties: { x: {} } });
  const notices = s.events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  expect(notices).toHaveLength(5);
  for (const notice of notices) expect(notice).toMatch(/^the MCP server s: .*ignored/);
});

it("limits a list to five thousand tools and stops at a repeated cursor", async () => {
  await using s = openTestServers([scriptedServer("s", "many"), scriptedServer("c", "circle")]);
  await s.ready("s");
  await s.ready("c");
  expect(s.state("s").tools).toHaveLength(5_000);
  expect(s.state("c").tools).toHaveLength(1);
  const notices = s.events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  expect(notices).toContainEqual("the MCP server s: it lists more than 5000 tools; the rest is ignored");
  expect(notices).toContainEqual("the MCP server c: its list of tools repeats a cursor; the rest is ignored");
});

it("ends the call of a killed server as unknown, restarts it, and leaves no process", async () => {
  await using s = openTestServers([scriptedServer()], { bounds: { retryFirstMs: 20 } });
  await s.ready();
  const call = s.call("s__hang");
  const started = s.events.find((event) => event.type === "process.started");
  process.kill(started!.pid, "SIGKILL");
  expect(await call).toMatchObject({
    outcome: "unknown",
    text: expect.stringMatching(
      /server s was lost during the call of hang, which may or may not have taken effect: it was killed by SIGKILL/,
    ),
  });
  await vi.waitFor(() => expect(s.statuses()).toEqual(["connecting", "ready", "gone", "ready"]), 10_000);
  expect(await s.call("s__echo", { text: "back" })).toMatchObject({ outcome: "ok", text: "back" });
  await s.servers[Symbol.asyncDispose]();
  expect(processesMarked(s.marker)).toEqual([]);
});

it("gives up on a server that keeps crashing, until reconnect", async () => {
  await using s = openTestServers([scriptedServer()], { bounds: { retryFirstMs: 1, retryLastMs: 2, retries: 2 } });
  await s.ready();
  for (let times = 0; times < 3; times += 1) {
    await s.ready();
    process.kill(s.events.findLast((event) => event.type === "process.started")!.pid, "SIGKILL");
    await vi.waitFor(() => expect(s.statuses().filter((status) => status === "gone")).toHaveLength(times + 1));
  }
  await vi.waitFor(() =>
    expect(s.state()).toMatchObject({ status: "failed", reason: expect.stringMatching(/^gave up after 2 tries: /) }),
  );
  s.servers.reconnect("s");
  await s.ready();
});

it("stops a server that ignores SIGTERM", async () => {
  const s = openTestServers([scriptedServer("s", "ignore-term")]);
  await s.ready();
  await s[Symbol.asyncDispose]();
});

it("can be disposed while a server hangs during initialization", async () => {
  const s = openTestServers([scriptedServer("s", "silent")]);
  await vi.waitFor(() => expect(s.events.some(({ type }) => type === "process.started")).toBe(true));
  await s[Symbol.asyncDispose]();
  await s.servers[Symbol.asyncDispose]();
});

it("times out a silent call, resets the timeout on progress, and limits the total time", async () => {
  await using s = openTestServers([{ ...scriptedServer(), timeoutMs: 200 }], { bounds: { callTotalMs: 700 } });
  await s.ready();
  const seen: string[] = [];
  const progress = (text: string): void => void seen.push(text);
  expect(await s.call("s__slow", { steps: 6 }, { progress })).toMatchObject({ outcome: "ok", text: "done" });
  expect(seen.slice(0, 2)).toEqual(["step 1", "step 2"]);
  expect(await s.call("s__hang")).toMatchObject({
    outcome: "timed_out",
    text: expect.stringContaining("server s did not answer the call of hang in time"),
  });
  expect(await s.call("s__slow", { steps: 100 })).toMatchObject({ outcome: "timed_out" });
});

it("ends a cancelled call at once and notifies the server", async () => {
  const spec = scriptedServer();
  await using s = openTestServers([{ ...spec, args: [...spec.args, "journal=journal"] }]);
  await s.ready();
  const controller = new AbortController();
  const call = s.call("s__hang", {}, { signal: controller.signal });
  controller.abort();
  expect(await call).toMatchObject({ outcome: "cancelled" });
  await vi.waitFor(() =>
    expect(readFileSync(join(s.folder, "journal"), "utf8")).toContain("received notifications/cancelled"),
  );
});

it("returns failures, bad arguments and unknown tools as failed results", async () => {
  await using s = openTestServers([scriptedServer()]);
  await s.ready();
  expect(await s.call("s__fail")).toEqual({ outcome: "failed", text: "it broke" });
  expect(await s.call("s__echo", "text")).toMatchObject({ outcome: "failed" });
  expect(await s.call("s__none")).toMatchObject({
    outcome: "failed",
    text: "the MCP server s has no tool s__none",
  });
});

it("keeps images, files, links and structured content, and notes a schema mismatch", async () => {
  await using s = openTestServers([scriptedServer()]);
  await s.ready();
  const { text, blobs, structured } = await s.call("s__mixed");
  expect(structured).toEqual({ n: 1 });
  expect(blobs).toMatchObject([{ mediaType: "image/png" }, { mediaType: "application/octet-stream", name: "b.bin" }]);
  expect(blobs!.map(({ hash }) => Buffer.from(s.blobs.get(hash)!).toString())).toEqual(["PNG", "BIN"]);
  expect(text.split("\n")).toEqual([
    "first",
    `[image, image/png, 3 bytes: stored as ${blobs![0]!.hash}]`,
    `[resource file:///a/b.bin, application/octet-stream, 3 bytes: stored as ${blobs![1]!.hash}]`,
    "[resource file:///a/b.txt]",
    "inside",
    "[link to the resource file:///a/c: c]",
    '[content of an unknown type: {"type":"hologram","data":1}]',
  ]);
  expect(await s.call("s__wrong")).toMatchObject({
    outcome: "ok",
    structured: { n: "one" },
    text: expect.stringMatching(/^unchecked\n\[the structured content does not match .*must be number\]$/),
  });
});

it("stores a result of 12 MB as a blob and shows its head and tail", async () => {
  await using s = openTestServers([scriptedServer()]);
  await s.ready();
  const bytes = 12 * 1024 * 1024;
  const { outcome, text, blobs } = await s.call("s__big", { bytes });
  expect(outcome).toBe("ok");
  expect(text.length).toBeLessThan(30_000);
  expect(text).toContain(`read it with read_result {"handle":"${blobs![0]!.hash}"}`);
  expect(s.blobs.get(blobs![0]!.hash)?.length).toBe(bytes);
});

it("ends the connection for a result of 60 MB without blocking the event loop", async () => {
  await using s = openTestServers([scriptedServer()], { bounds: { retryFirstMs: 60_000, retryLastMs: 60_000 } });
  await s.ready();
  const { outcome, text } = await s.call("s__big", { bytes: 60 * 1024 * 1024 });
  expect(outcome).toBe("unknown");
  expect(text).toContain("more than 16777216 bytes");
});

it("ends the connection with a reason if a message exceeds the limit", async () => {
  await using s = openTestServers([scriptedServer()], {
    bounds: { messageBytes: 100_000, retryFirstMs: 60_000, retryLastMs: 60_000 },
  });
  await s.ready();
  expect(await s.call("s__big", { bytes: 200_000 })).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("more than 100000 bytes"),
  });
  expect(s.state()).toMatchObject({ status: "gone", reason: expect.stringContaining("more than 100000 bytes") });
});

it("updates tools and prompts during a call without ending it", async () => {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await using s = openTestServers([scriptedServer()], { answer: async () => (await held, { action: "accept" }) });
  await s.ready();
  const call = s.call("s__rename");
  await vi.waitFor(() => expect(s.state().tools[0]?.name).toBe("s__shout"));
  await vi.waitFor(() => expect(s.state().prompts).toMatchObject([{ name: "inspect" }]));
  letGo();
  expect(await call).toMatchObject({ outcome: "ok" });
  expect(await s.call("s__shout", { text: "HI" })).toMatchObject({ text: "HI" });
});

it.each(["accept", "decline", "cancel"] as const)("asks the user with a form and returns %s", async (action) => {
  await using s = openTestServers([scriptedServer()], { answer: async () => ({ action, content: { name: "Ada" } }) });
  await s.ready();
  const { text } = await s.call("s__ask");
  expect(JSON.parse(text)).toEqual(action === "accept" ? { action, content: { name: "Ada" } } : { action });
  expect(s.questions).toMatchObject([{ message: "Who are you?", from: "s", schema: { type: "object" } }]);
});

it("asks with a form whose schema is unknown", async () => {
  await using s = openTestServers([scriptedServer()]);
  await s.ready();
  expect((await s.call("s__ask-odd")).text).toBe('{"action":"decline"}');
  expect(s.questions).toMatchObject([{ schema: { type: "tuple", of: [1, null] } }]);
});

it("lets a question outlast the call timeout without blocking other calls, and ends it with its call", async () => {
  const controller = new AbortController();
  const ended = vi.fn();
  const answer = (_: unknown, options?: { signal?: AbortSignal | undefined }): Promise<never> =>
    new Promise((_resolve, reject) =>
      options?.signal?.addEventListener("abort", () => (ended(), reject(new Error("ended")))),
    );
  await using s = openTestServers([{ ...scriptedServer(), timeoutMs: 100 }, scriptedServer("other")], { answer });
  await s.ready();
  await s.ready("other");
  const call = s.call("s__ask", {}, { signal: controller.signal });
  await vi.waitFor(() => expect(s.questions).toHaveLength(1));
  // longer than the call may be silent
  expect(await s.call("other__slow", { steps: 4 })).toMatchObject({ outcome: "ok" });
  expect(await s.call("s__echo", { text: "meanwhile" })).toMatchObject({ outcome: "ok" });
  controller.abort();
  expect(await call).toMatchObject({ outcome: "cancelled" });
  expect(ended).toHaveBeenCalledOnce();
});

it("asks the user to visit a page, which the server completes", async () => {
  await using s = openTestServers([scriptedServer()], {
    answer: async (_, options) => (await options?.completed, { action: "accept" }),
  });
  await s.ready();
  expect((await s.call("s__visit")).text).toBe('{"action":"accept"}');
  expect(s.questions).toMatchObject([{ message: "Visit", url: "https://example.com/a" }]);
});

it.each([
  ["accept", { outcome: "ok", text: "visited" }],
  ["decline", { outcome: "failed", text: expect.stringMatching(/https:\/\/example.com\/first \(decline\)/) }],
] as const)("asks for a required page and handles %s", async (action, expected) => {
  await using s = openTestServers([scriptedServer()], { answer: async () => ({ action }) });
  await s.ready();
  expect(await s.call("s__visit-first")).toMatchObject(expected);
  expect(s.questions).toMatchObject([{ url: "https://example.com/first" }]);
});

it.each([
  [
    "given",
    async () => ({ model: "m", text: "hello" }),
    { role: "assistant", content: { type: "text", text: "hello" }, model: "m", stopReason: "endTurn" },
  ],
  [
    "refused",
    async () => Promise.reject(new SamplingRefused()),
    { error: { code: -1, message: "User rejected sampling request: the user refused it" } },
  ],
  ["not offered", undefined, { error: { code: -32601, message: "Rookery does not support sampling/createMessage" } }],
] as const)("answers a sampling request that is %s", async (_, sample, expected) => {
  await using s = openTestServers([scriptedServer()], { sample });
  await s.ready();
  expect(JSON.parse((await s.call("s__sample")).text)).toEqual(expected);
});

it("buffers only current events until the session is attached", async () => {
  await using s = openTestServers([scriptedServer("s", "noise"), scriptedServer("t", "exit")], { isAttached: false });
  await s.servers.settled({ signal: AbortSignal.timeout(20_000) });
  expect(s.events).toEqual([]);
  s.attach();
  expect(s.statuses("s")).toEqual(["ready"]);
  expect(s.statuses("t")).toEqual(["failed"]);
  expect(s.events.filter(({ type }) => type === "process.started")).toHaveLength(1);
  expect(s.events.filter(({ type }) => type === "notice")).toHaveLength(1);
});
