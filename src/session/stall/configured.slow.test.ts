import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { SessionEvent } from "../../domain/index.ts";
import { call, fault, say, type Script } from "../../testing/index.ts";
import { manualClock } from "../test-scripted-session.ts";
import { openWorld } from "../test-scene.ts";

/** The built-in agent with a scripted model and a manual clock. */
async function prompted(script: Script, toml: string | ((home: string) => Promise<string>)) {
  const w = await openWorld(script);
  await w.configure(typeof toml === "string" ? toml : await toml(w.home));
  const clock = manualClock();
  const rookery = w.owned.use(await w.open(clock));
  const session = await rookery.openSession({ permissions: "all" });
  const turn = session.prompt("go");
  return {
    clock,
    cwd: w.options.cwd,
    session,
    turn,
    has: async (wanted: (event: SessionEvent) => boolean) => {
      for await (const { event } of rookery.follow({ session: session.id })) if (wanted(event)) return;
    },
    [Symbol.asyncDispose]: () => w.owned[Symbol.asyncDispose](),
  };
}

it("stalls by the configured limit if the model hangs in a message", async () => {
  await using s = await prompted(
    [fault("stall", { text: ["I am about to", " do it"], afterEvents: 4 })],
    "[agents.anthropic]\nstall = { model = 60 }",
  );
  await s.has(({ type }) => type === "message.delta");
  s.clock.advance(60);
  const outcome = await s.turn.outcome;
  expect(outcome).toMatchObject({ status: "stalled", clock: "model" });
  expect(outcome).toMatchObject({ message: expect.stringContaining('it said "I am about to"') as unknown });
});

it("does not stall during a silent build of five minutes, and continues when it ends", async () => {
  const building = call("bash", { command: "echo up; until [ -e go ]; do sleep 0.05; done" });
  await using s = await prompted([building, say("ok")], "");
  await s.has(({ type }) => type === "tool.updated");
  s.clock.advance(300);
  const looks = performance.now() + 2_000; // after many checks
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(looks));
  expect(s.session.state.turn).toBeDefined();
  await writeFile(join(s.cwd, "go"), "");
  expect(await s.turn.outcome).toMatchObject({ status: "done" });
});

const READS = { name: "read", input: { path: "a/rather/long/path" } };

/** Writes a long tool call in pieces, without any text. */
const WRITES = `
const say = (record) => process.stdout.write(JSON.stringify(record) + "\\n");
const piece = { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: "x" } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, request_id, request } = JSON.parse(line);
  if (type === "control_request") say({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
  if (type === "user") setInterval(() => say({ type: "stream_event", event: piece, parent_tool_use_id: null }), 20);
  if (request?.subtype === "interrupt") say({ type: "result", subtype: "error_during_execution", is_error: true });
}).on("close", () => process.exit());
`;

it.each<[string, Script, string | ((home: string) => Promise<string>)]>([
  ["on an API", [{ toolCalls: Array.from({ length: 60 }, () => READS), chunkDelayMs: 20 }], ""],
  [
    "behind a program",
    [],
    async (home) => {
      await writeFile(join(home, "writes.cjs"), WRITES);
      const command = JSON.stringify([process.execPath, join(home, "writes.cjs")]);
      return `[defaults]\nagent = "it"\n[agents.it]\nbackend = "claude-code"\ncommand = ${command}`;
    },
  ],
])("does not stall while a model %s writes a long tool call, although nothing is recorded", async (_, script, toml) => {
  await using s = await prompted(script, toml);
  const minutes = setInterval(() => s.clock.advance(20), 50); // simulates ten minutes in 1.5 seconds
  const looks = performance.now() + 3_000;
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(looks));
  clearInterval(minutes);
  expect(s.session.state.turn).toBeDefined();
  await s.session.cancel();
});
