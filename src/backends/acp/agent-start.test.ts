import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TurnContext } from "../../domain/index.ts";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment, temporaryFolder, writeAcpAgent } from "../../testing/index.ts";
import { testSpec, testSource } from "../../tools/test-source.ts";
import { acpBackend } from "./backend.ts";
import { startLiveAcpAgent } from "./live-agent.ts";

/** The first start is normal. The second creates a file and is slow. */
const LATE = `if [ -e "$0" ]; then touch "$0-again"; sleep 2; fi; touch "$0"; exec "$@"`;

/** The first start is normal. The second creates a file and never finishes. */
const NEVER = `if [ -e "$0" ]; then touch "$0-again"; sleep 600; fi; touch "$0"; exec "$@"`;

it("leaves no process of an agent that was starting when its session closed", async () => {
  await using home = await temporaryFolder();
  const { connection, marker } = await open(home.path, LATE);
  connection.tools?.setOverlay({ sources: [testSource("o", testSpec("one"))], contributions: [], base: true });
  const log = { record: () => undefined };
  const turn = {
    turnId: "t1",
    input: [{ type: "text", text: "hi" }],
    signal: new AbortController().signal,
    log,
  } as unknown as TurnContext;
  const outcome = connection.runTurn(turn); // starts another process because of the overlay
  await expect.poll(() => existsSync(join(home.path, "started-again"))).toBe(true); // the file stays, unlike a gap between two processes
  await connection[Symbol.asyncDispose]();
  expect(await outcome).toMatchObject({ status: "failed", code: "interrupted" });
  expect(processesMarked(marker)).toEqual([]);
});

it("stops a start that never finishes when its turn is cancelled, and leaves no process", async () => {
  await using home = await temporaryFolder();
  const { connection, marker } = await open(home.path, NEVER);
  connection.tools?.setOverlay({ sources: [testSource("o", testSpec("one"))], contributions: [], base: true });
  const own = new AbortController();
  const log = { record: () => undefined };
  const turn = {
    turnId: "t1",
    input: [{ type: "text", text: "hi" }],
    signal: own.signal,
    log,
  } as unknown as TurnContext;
  const outcome = connection.runTurn(turn);
  await expect.poll(() => existsSync(join(home.path, "started-again"))).toBe(true); // the file stays, unlike a gap between two processes
  own.abort(new Error("enough"));
  expect(await outcome).toEqual({ status: "cancelled" });
  await expect.poll(() => processesMarked(marker), { timeout: 10_000 }).toEqual([]); // the turn does not wait for its end
  await connection[Symbol.asyncDispose]();
}, 15_000);

it("reports an agent that did not start in time with its last output, and leaves no process", async () => {
  await using home = await temporaryFolder();
  const marker = `starting-${process.pid}-late`;
  const command = ["sh", "-c", "echo 'waiting for the weather' >&2; sleep 600"];
  const agent = { name: "a", backend: "acp", model: undefined, permissions: undefined, prompts: [], command } as const;
  const starting = startLiveAcpAgent({
    context: { sessionId: "s", agent, cwd: home.path, nativeId: undefined, marker },
    ...{ servers: [], command, env: builtEnvironment({ home: home.path }), serve: [], native: undefined },
    ...{ handlers: {}, gate: () => Promise.reject(new Error("nothing is asked")), noise: () => undefined },
    startMs: 300,
  });
  await expect(starting).rejects.toMatchObject({
    code: "agent_failed",
    message: "a did not start within 0.3 s: its last output was: waiting for the weather",
  });
  expect(processesMarked(marker)).toEqual([]);
});

/** Offers a model and a mode, and fails when the client chooses one. */
const FAILS_AT_CHOICE = `
const answer = (id, body) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") answer(id, { result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === "session/new") answer(id, { result: {
    sessionId: "s",
    models: { currentModelId: "m", availableModels: [{ modelId: "n", name: "n" }] },
    modes: { currentModeId: "m", availableModes: [{ id: "n", name: "n" }] },
  } });
  else if (process.argv[1] === "exits") process.exit(3);
  else answer(id, { error: { code: -32000 - 5, message: "not today" } });
});`;

it.each([
  ["exits", "model", /exit code 3/],
  ["exits", "mode", /exit code 3/],
  ["refuses", "model", /not today/],
  ["refuses", "mode", /not today/],
])("fails with agent_failed if the agent %s when its %s is chosen", async (behavior, choice, message) => {
  await using home = await temporaryFolder();
  const command = [process.execPath, "-e", FAILS_AT_CHOICE, behavior];
  const agent = { name: "a", backend: "acp", model: undefined, permissions: undefined, prompts: [], command } as const;
  const opened = acpBackend({ env: builtEnvironment({ home: home.path }) }).open({
    ...{ sessionId: "s", cwd: home.path, nativeId: undefined, marker: `choice-${process.pid}` },
    agent: { ...agent, [choice]: "n" },
  });
  await expect(opened).rejects.toMatchObject({
    name: "RookeryError",
    code: "agent_failed",
    message: expect.stringMatching(message) as string,
  });
});

async function open(home: string, script: string) {
  const marker = `starting-${process.pid}-${script.length}`;
  const { command } = await writeAcpAgent(home, { otherwise: [] });
  const connection = await acpBackend({ env: builtEnvironment({ home }) }).open({
    sessionId: "s",
    agent: {
      name: "a",
      backend: "acp",
      model: undefined,
      permissions: undefined,
      prompts: [],
      command: ["sh", "-c", script, join(home, "started"), ...command],
    },
    cwd: home,
    nativeId: undefined,
    marker,
  });
  return { connection, marker };
}
