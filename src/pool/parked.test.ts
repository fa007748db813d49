import { expect, it, vi } from "vitest";
import { loadConfig } from "../config/index.ts";
import { NO_CAPABILITIES, type AgentConnection, type LimitReached, type TurnOutcome } from "../domain/index.ts";
import { createSession, reopenSession, type PrepareAgent } from "../session/index.ts";
import { manualClock } from "../session/test-scripted-session.ts";
import { ownIdentity } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../testing/index.ts";
import { Pool } from "./index.ts";

const LIMIT: LimitReached = { status: "limited", message: "5-hour limit", resetsAt: "2026-01-01T01:00:00.000Z" };

it("parks a task at a usage limit, runs another task meanwhile, and continues the same turn after the limit", async () => {
  await using repository = await temporaryRepository();
  await using home = await temporaryFolder();
  await using store = openMemoryStore();
  const clock = manualClock();
  const env = builtEnvironment({ home: home.path });
  const { pid, startTime } = ownIdentity();
  const owner = `${pid}.${startTime}.parked`;
  const answers: (TurnOutcome | LimitReached)[] = [LIMIT, { status: "done" }, { status: "done" }];
  let open = 0;
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    runTurn: () => Promise.resolve(answers.shift() ?? { status: "cancelled" }),
    [Symbol.asyncDispose]: () => Promise.resolve(void (open -= 1)),
  };
  const prepare: PrepareAgent = (_, { agent = "robin", cwd = "" }) =>
    Promise.resolve({
      settings: { agent, backend: "acp", model: undefined, cwd, permissions: "all" },
      connect: () => Promise.resolve(connection).finally(() => (open += 1)),
    });
  const pool = new Pool({
    store,
    clock,
    env,
    home: home.path,
    claim: () => owner,
    folder: () => repository.path,
    openSession: ({ id, ...options }) => {
      const opening = { store, clock, owner, attended: true, lookMs: 5 };
      return id === undefined ? createSession(opening, options, prepare) : reopenSession(opening, id, options, prepare);
    },
    settleSession: () => Promise.reject(new Error("unexpected call of settleSession")),
    config: (cwd) => loadConfig({ cwd, env }),
    maxRunning: () => Promise.resolve(1),
    sweep: () => Promise.resolve(),
  });
  const over = new AbortController();
  const running = pool.run({ signal: over.signal, onProblem: (error) => expect.fail(String(error)) });
  const statuses = async () => (await pool.list()).map(({ id, status }) => `${id} ${status}`);

  await pool.start({ id: "first", prompt: "go" });
  await pool.start({ id: "second", prompt: "go too" });
  await vi.waitFor(async () => expect(await statuses()).toEqual(["second done", "first parked"]));
  expect(open).toBe(0);
  expect(await pool.show("first")).toMatchObject({ notBefore: "2026-01-01T01:00:05.000Z" });

  clock.advance(3605);
  await vi.waitFor(async () => expect(await statuses()).toEqual(["second done", "first done"]));
  const { sessions } = await pool.show("first");
  expect(sessions).toHaveLength(1);
  const { events } = await store.read({ sessionId: sessions[0]?.id ?? "" });
  const turns = events.filter(({ type }) => type.startsWith("turn.")).map(({ type }) => type);
  expect(turns).toEqual(["turn.started", "turn.parked", "turn.continued", "turn.ended"]);
  over.abort();
  await running;
});
