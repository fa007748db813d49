/** Misbehaving servers: each results in a status or a typed failure, with bounded memory. */
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import type { StdioServerSpec } from "../domain/index.ts";
import { processesMarked } from "../stdx/index.ts";
import { openTestServers } from "./test-servers.ts";

const RUDE = fileURLToPath(new URL("./test-rude-server.mjs", import.meta.url));

function rude(how: string): StdioServerSpec {
  return { type: "stdio", name: "s", command: process.execPath, args: [RUDE, how], env: {} };
}

it("truncates long texts everywhere", async () => {
  await using s = openTestServers([rude("long texts")]);
  await s.ready();
  expect(s.state().instructions?.length).toBeLessThan(60_000);
  expect(s.state().tools[0]?.title?.length).toBeLessThan(1_000);
  const told: string[] = [];
  const { outcome, text } = await s.call("s__go", {}, { progress: (words) => void told.push(words) });
  expect(outcome).toBe("failed");
  expect(text).toMatch(/^the call of go on the MCP server s failed: .*more characters\]$/);
  expect(text.length).toBeLessThan(5_000);
  expect(told[0]?.length).toBeLessThan(5_000);
  expect(s.questions[0]?.message.length).toBeLessThan(11_000);
  expect(JSON.stringify(s.events).length).toBeLessThan(10_000);
});

it("does not ask with a form that is too large, and tells the server", async () => {
  await using s = openTestServers([rude("huge form")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "the form is too large" });
  expect(s.questions).toEqual([]);
});

it("ignores a tool with too large a schema, and an output schema that is nested too deeply", async () => {
  await using wide = openTestServers([rude("wide schema")]);
  await using deep = openTestServers([rude("deep output schema")]);
  await wide.ready();
  await deep.ready();
  expect(wide.state().tools.map(({ name }) => name)).toEqual(["s__go"]);
  expect(deep.state().tools).toMatchObject([{ name: "s__go" }]);
  expect(deep.state().tools[0]).not.toHaveProperty("outputSchema");
});

it("truncates a list that is too large and reports it", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  await using s = openTestServers([rude("endless schemas")], { bounds: { listedChars: 2_000_000 } });
  await s.ready();
  process.off("warning", warned);
  expect(warned).not.toHaveBeenCalled();
  expect(s.state().tools).toHaveLength(19);
  expect(s.events).toContainEqual(
    expect.objectContaining({
      message: "the MCP server s: its list of tools has more than 2000000 characters; the rest is ignored",
    }),
  );
});

it("skips a slow pattern and checks the rest of the schema", async () => {
  await using s = openTestServers([rude("slow pattern")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: expect.stringContaining("n must be number") });
}, 10_000);

it("refuses sampling requests above the limit", async () => {
  const waiting: (() => void)[] = [];
  const sample = vi.fn(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { model: "m", text: "hello" };
  });
  await using s = openTestServers([rude("samples")], { sample });
  await s.ready();
  const call = s.call("s__go");
  await vi.waitFor(() => expect(waiting).toHaveLength(32));
  for (const answer of waiting) answer();
  expect(await call).toMatchObject({ text: "68 of 100 refused" });
  expect(sample).toHaveBeenCalledTimes(32);
});

it("limits the number of questions of a server", async () => {
  await using s = openTestServers([rude("asks forever")]);
  await s.ready();
  const { text } = await s.call("s__go");
  expect(s.questions.length).toBeGreaterThanOrEqual(100);
  expect(s.questions.length).toBeLessThan(150);
  expect(text).toBe(`${300 - s.questions.length} cancelled`);
});

it("reports a server whose tools change constantly only once", async () => {
  await using s = openTestServers([rude("changes forever")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "listed" });
  expect(s.events.filter(({ type }) => type === "notice")).toHaveLength(1);
});

it("lists tools again if they change during the first listing", async () => {
  await using s = openTestServers([rude("changes while it lists")]);
  await s.ready();
  await vi.waitFor(() => expect(s.state().tools.map(({ name }) => name)).toEqual(["s__new"]));
});

it("limits the rate of progress messages", async () => {
  await using s = openTestServers([rude("progress forever")]);
  await s.ready();
  const progress = vi.fn();
  expect(await s.call("s__go", {}, { progress })).toMatchObject({ outcome: "ok", text: "done" });
  expect(progress.mock.calls.length).toBeGreaterThan(50);
  expect(progress.mock.calls.length).toBeLessThan(500);
});

it("uses the first response and ignores unrelated ones", async () => {
  await using s = openTestServers([rude("answers twice")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: "first" });
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: "first" });
  expect(s.statuses()).toEqual(["connecting", "ready"]);
});

it("accepts requests before initialization", async () => {
  await using s = openTestServers([rude("asks before initialization")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "done" });
});

it.each([
  ["refuses to initialize", /no seat is free/],
  ["has an old protocol version", /protocol version is not supported: 1999-01-01/],
  ["refuses to list", /the database is locked/],
])("reports why a server failed that %s", async (how, reason) => {
  await using s = openTestServers([rude(how)]);
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "failed", reason: expect.stringMatching(reason) });
});

it("times out on an incomplete line", async () => {
  await using s = openTestServers([{ ...rude("half a line"), connectTimeoutMs: 300 }]);
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "failed", reason: "it did not answer within 0.3 s" });
});

it("restarts a server that closes its input and keeps running", async () => {
  await using s = openTestServers([rude("closes its input")], { bounds: { retryFirstMs: 20 } });
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "closed" });
  expect(await s.call("s__go")).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("it closed its input"),
  });
  await vi.waitFor(() => expect(s.statuses()).toEqual(["connecting", "ready", "gone", "ready"]), 10_000);
});

it("ends the call and the process if a server leaves a child behind", async () => {
  await using s = openTestServers([rude("leaves a child")], { bounds: { retryFirstMs: 60_000, retryLastMs: 60_000 } });
  await s.ready();
  expect(processesMarked(s.marker)).toHaveLength(1); // the marker by which the next start finds leftover processes
  expect(await s.call("s__go")).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("it exited with code 5"),
  });
  await vi.waitFor(() => expect(processesMarked(s.marker)).toEqual([]));
});

it("does not record a server's arguments, which may contain a key", async () => {
  const spec = rude("well");
  await using s = openTestServers([{ ...spec, args: [...spec.args, "--key=s3cret"] }]);
  await s.ready();
  expect(JSON.stringify(s.events)).not.toContain("s3cret");
});

it("times out on an in-process server that never opens, and can be closed", async () => {
  const open = (): Promise<never> => new Promise(() => undefined);
  await using s = openTestServers([{ type: "memory", name: "s", connectTimeoutMs: 100, open }]);
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "failed", reason: "it did not answer within 0.1 s" });
  const other = openTestServers([{ type: "memory", name: "s", open }]);
  await other[Symbol.asyncDispose]();
});
