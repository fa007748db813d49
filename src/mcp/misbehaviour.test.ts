/** Servers that do what no server should: each costs a status or a typed failure, and bounded room. */
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import type { StdioServerSpec } from "../domain/index.ts";
import { processesMarked } from "../stdx/index.ts";
import { scene } from "./test-scene.ts";

const RUDE = fileURLToPath(new URL("./test-rude-server.mjs", import.meta.url));

function rude(how: string): StdioServerSpec {
  return { type: "stdio", name: "s", command: process.execPath, args: [RUDE, how], env: {} };
}

it("words without end are shortened wherever they go", async () => {
  await using s = scene([rude("long words")]);
  await s.ready();
  expect(s.state().instructions?.length).toBeLessThan(60_000);
  expect(s.state().tools[0]?.title?.length).toBeLessThan(1_000);
  const told: string[] = [];
  const { outcome, text } = await s.call("s__go", {}, { progress: (words) => void told.push(words) });
  expect(outcome).toBe("failed");
  expect(text).toMatch(/^the MCP server s failed go: .*more characters\]$/);
  expect(text.length).toBeLessThan(5_000);
  expect(told[0]?.length).toBeLessThan(5_000);
  expect(s.questions[0]?.message.length).toBeLessThan(11_000);
  expect(JSON.stringify(s.events).length).toBeLessThan(10_000);
});

it("a form that is too large is not asked, and the server is told so", async () => {
  await using s = scene([rude("huge form")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "the form is too large to be asked" });
  expect(s.questions).toEqual([]);
});

it("a schema of too many parts costs its tool alone, and a promise that is nested too deeply itself alone", async () => {
  await using wide = scene([rude("wide schema")]);
  await using deep = scene([rude("deep promise")]);
  await wide.ready();
  await deep.ready();
  expect(wide.state().tools.map(({ name }) => name)).toEqual(["s__go"]);
  expect(deep.state().tools).toMatchObject([{ name: "s__go" }]);
  expect(deep.state().tools[0]).not.toHaveProperty("outputSchema");
});

it("a list that is too large altogether is cut, and says so", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  await using s = scene([rude("endless schemas")], { bounds: { listedChars: 2_000_000 } });
  await s.ready();
  process.off("warning", warned);
  expect(warned).not.toHaveBeenCalled();
  expect(s.state().tools).toHaveLength(19);
  expect(s.events).toContainEqual(
    expect.objectContaining({
      message: "the MCP server s: its list of tools has more than 2000000 characters; the rest is left out",
    }),
  );
});

it("a pattern that takes for ever is not tried, and the rest of its schema is", async () => {
  await using s = scene([rude("slow pattern")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: expect.stringContaining("n must be number") });
}, 10_000);

it("a server that asks the model a hundred times at once is refused most of it", async () => {
  const waiting: (() => void)[] = [];
  const sample = vi.fn(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { model: "m", text: "hello" };
  });
  await using s = scene([rude("samples")], { sample });
  await s.ready();
  const call = s.call("s__go");
  await vi.waitFor(() => expect(waiting).toHaveLength(32));
  for (const answer of waiting) answer();
  expect(await call).toMatchObject({ text: "68 of 100 refused" });
  expect(sample).toHaveBeenCalledTimes(32);
});

it("a server that asks for ever is heard for a while", async () => {
  await using s = scene([rude("asks for ever")]);
  await s.ready();
  const { text } = await s.call("s__go");
  expect(s.questions.length).toBeGreaterThanOrEqual(100);
  expect(s.questions.length).toBeLessThan(150);
  expect(text).toBe(`${300 - s.questions.length} cancelled`);
});

it("a server that says for ever that its tools changed is complained of once", async () => {
  await using s = scene([rude("changes for ever")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "listed" });
  expect(s.events.filter(({ type }) => type === "notice")).toHaveLength(1);
});

it("tools that change while they are first listed are listed again", async () => {
  await using s = scene([rude("changes while it lists")]);
  await s.ready();
  await vi.waitFor(() => expect(s.state().tools.map(({ name }) => name)).toEqual(["s__new"]));
});

it("progress without end is told in part", async () => {
  await using s = scene([rude("progress for ever")]);
  await s.ready();
  const progress = vi.fn();
  expect(await s.call("s__go", {}, { progress })).toMatchObject({ outcome: "ok", text: "done" });
  expect(progress.mock.calls.length).toBeGreaterThan(50);
  expect(progress.mock.calls.length).toBeLessThan(500);
});

it("the first answer counts, and what answers nothing is passed over", async () => {
  await using s = scene([rude("answers twice")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: "first" });
  expect(await s.call("s__go")).toMatchObject({ outcome: "ok", text: "first" });
  expect(s.statuses()).toEqual(["connecting", "ready"]);
});

it("a server may ask before it greets", async () => {
  await using s = scene([rude("asks before it greets")]);
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "gone well" });
});

it.each([
  ["refuses to greet", /no seat is free/],
  ["is of another time", /protocol version is not supported: 1999-01-01/],
  ["refuses to list", /the database is locked/],
])("a server that %s fails in its own words", async (how, reason) => {
  await using s = scene([rude(how)]);
  await s.servers.settled(AbortSignal.timeout(10_000));
  expect(s.state()).toMatchObject({ status: "failed", reason: expect.stringMatching(reason) });
});

it("half a line and silence is no answer", async () => {
  await using s = scene([{ ...rude("half a line"), connectTimeoutMs: 300 }]);
  await s.servers.settled(AbortSignal.timeout(10_000));
  expect(s.state()).toMatchObject({ status: "failed", reason: "it did not answer within 0.3 s" });
});

it("a server that closes its input and lives on is gone, and started anew", async () => {
  await using s = scene([rude("closes its input")], { bounds: { retryFirstMs: 20 } });
  await s.ready();
  expect(await s.call("s__go")).toMatchObject({ text: "closed" });
  expect(await s.call("s__go")).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("it closed its input"),
  });
  await vi.waitFor(() => expect(s.statuses()).toEqual(["connecting", "ready", "gone", "ready"]), 10_000);
});

it("a child that a server leaves behind holds neither the call nor a process", async () => {
  await using s = scene([rude("leaves an heir")], { bounds: { retryFirstMs: 60_000, retryLastMs: 60_000 } });
  await s.ready();
  expect(processesMarked(s.marker)).toHaveLength(1); // by which the next start finds what a killed one left
  expect(await s.call("s__go")).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("it exited with code 5"),
  });
  await vi.waitFor(() => expect(processesMarked(s.marker)).toEqual([]));
});

it("a key among a server's arguments is not written down", async () => {
  const spec = rude("well");
  await using s = scene([{ ...spec, args: [...spec.args, "--key=s3cret"] }]);
  await s.ready();
  expect(JSON.stringify(s.events)).not.toContain("s3cret");
});

it("a server within the process that never opens fails in time, and can be closed", async () => {
  const open = (): Promise<never> => new Promise(() => undefined);
  await using s = scene([{ type: "memory", name: "s", connectTimeoutMs: 100, open }]);
  await s.servers.settled(AbortSignal.timeout(10_000));
  expect(s.state()).toMatchObject({ status: "failed", reason: "it did not answer within 0.1 s" });
  const other = scene([{ type: "memory", name: "s", open }]);
  await other[Symbol.asyncDispose]();
});
