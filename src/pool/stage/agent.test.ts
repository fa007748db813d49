import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { loadConfig } from "../../config/index.ts";
import {
  NO_CAPABILITIES,
  type AgentConnection,
  type LimitReached,
  type TurnContext,
  type TurnOutcome,
} from "../../domain/index.ts";
import { createSession, reopenSession, type PrepareAgent } from "../../session/index.ts";
import { manualClock } from "../../session/test-scripted-session.ts";
import { DisposeStack, ownIdentity } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../../testing/index.ts";
import { Pool } from "../index.ts";

const LIMIT: LimitReached = { status: "limited", message: "5-hour limit", resetsAt: "2026-01-01T01:00:00.000Z" };
const DONE: TurnOutcome = { status: "done" };

/** A pool that runs one task at a time with an agent that runs each turn with `runTurn`. */
async function openScene(runTurn: AgentConnection["runTurn"]) {
  await using opening = new DisposeStack();
  const repository = opening.use(await temporaryRepository());
  const home = opening.use(await temporaryFolder());
  const store = opening.use(openMemoryStore());
  const clock = manualClock();
  const env = builtEnvironment({ home: home.path });
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), '[agents.robin]\nbackend = "acp"\ncommand = ["never-started"]\n');
  const { pid, startTime } = ownIdentity();
  const owner = `${pid}.${startTime}.stage`;
  let open = 0;
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    runTurn,
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
      const common = { store, clock, owner, attended: true, pollMs: 5 };
      return id === undefined ? createSession(common, options, prepare) : reopenSession(common, id, options, prepare);
    },
    settleSession: () => Promise.reject(new Error("unexpected call of settleSession")),
    config: (cwd) => loadConfig({ cwd, env }),
    maxRunning: () => Promise.resolve(1),
    sweep: () => Promise.resolve(),
  });
  const over = new AbortController();
  const running = pool.run({ signal: over.signal, onProblem: (error) => expect.fail(String(error)) });
  opening.defer(() => {
    over.abort();
    return running;
  });
  const owned = opening.move();
  return {
    pool,
    store,
    clock,
    openSessions: () => open,
    statuses: async () => (await pool.list()).map(({ id, status }) => `${id} ${status}`),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

it("parks a task at a usage limit, runs another task meanwhile, and continues the same turn after the limit", async () => {
  const outcomes: (TurnOutcome | LimitReached)[] = [LIMIT, DONE, DONE];
  await using s = await openScene(() => Promise.resolve(outcomes.shift() ?? { status: "cancelled" }));
  await s.pool.start({ id: "first", prompt: "go" });
  await s.pool.start({ id: "second", prompt: "go too" });
  await vi.waitFor(async () => expect(await s.statuses()).toEqual(["second done", "first parked"]));
  expect(s.openSessions()).toBe(0);
  expect(await s.pool.show("first")).toMatchObject({ notBefore: "2026-01-01T01:00:05.000Z" });

  s.clock.advance(3605);
  await vi.waitFor(async () => expect(await s.statuses()).toEqual(["second done", "first done"]));
  const { sessions } = await s.pool.show("first");
  expect(sessions).toHaveLength(1);
  const { events } = await s.store.read({ sessionId: sessions[0]?.id ?? "" });
  const turns = events.filter(({ type }) => type.startsWith("turn.")).map(({ type }) => type);
  expect(turns).toEqual(["turn.started", "turn.parked", "turn.continued", "turn.ended"]);
});

const use = ({ log }: TurnContext, tokens: number): void =>
  log.record({ type: "usage.reported", inputTokens: tokens, outputTokens: 0 });
const untilCancelled = ({ signal }: TurnContext): Promise<TurnOutcome> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve({ status: "cancelled" })));

it("stops an agent that uses more tokens than the task's budget", async () => {
  await using s = await openScene((turn) => {
    use(turn, 60);
    use(turn, 60);
    return untilCancelled(turn);
  });
  await s.pool.start({ id: "t", prompt: "go", agent: "robin", budget: { tokens: 100 } });
  await vi.waitFor(async () => expect(await s.statuses()).toEqual(["t stopped"]));
  expect(await s.pool.show("t")).toMatchObject({
    code: "budget_reached",
    message: expect.stringContaining("120 of 100 tokens") as string,
  });
});

it("completes a task whose agent exceeds the budget with the last usage report of its turn", async () => {
  await using s = await openScene((turn) => {
    use(turn, 120);
    return Promise.resolve(DONE);
  });
  await s.pool.start({ id: "t", prompt: "go", agent: "robin", budget: { tokens: 100 } });
  await vi.waitFor(async () => expect(await s.statuses()).toEqual(["t done"]));
});
