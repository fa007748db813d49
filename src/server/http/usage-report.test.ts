import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { newId, RookeryError, type EventBody, type EventDraft, type ReadQuery } from "../../domain/index.ts";
import { sumUsage, UsageReportCache } from "../../session/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";
import { readUsageReport } from "./usage-report.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
});
afterEach(() => scene[Symbol.asyncDispose]());

type Report = Partial<Extract<EventBody, { type: "usage.reported" }>> & {
  readonly at?: string;
  readonly agent?: string;
};

/** Each report has 1,000 input and 10 output tokens. Noon is the same day in most time zones. */
async function writeUsage(cwd: string, ...reports: readonly Report[]): Promise<void> {
  const at = "2026-01-10T12:00:00.000Z";
  const opened = {
    type: "session.opened",
    at,
    agent: "a",
    backend: "api",
    model: "m1",
    cwd,
    permissions: "ask",
  } as const;
  const used = { type: "usage.reported", at, agent: "a", inputTokens: 1_000, outputTokens: 10 } as const;
  const events: EventDraft[] = [opened, ...reports.map((report) => ({ ...used, ...report }))];
  await scene.store.append({ sessionId: newId("ses"), id: newId("app"), expectedHead: 0, events });
}

async function getUsage(query = ""): Promise<Awaited<ReturnType<typeof readUsageReport>>> {
  return (await scene.get(`/v1/usage${query}`)).json as unknown as Awaited<ReturnType<typeof readUsageReport>>;
}

it("sums by agent and model, and keeps known and unknown costs apart", async () => {
  await writeUsage(
    "/gone",
    { costUsd: 1, costBy: "reported", cacheReadTokens: 5 },
    {},
    { agent: "b", model: "m2", costUsd: 2, costBy: "computed" },
    { agent: "b", childSessionId: "ses_child", costUsd: 99 },
  );
  const { rows, total, truncated } = await getUsage();
  const cache = { cacheReadTokens: 5, cacheWriteTokens: 0, reasoningTokens: 0 };
  expect(rows).toEqual([
    {
      agent: "a",
      model: "m1",
      inputTokens: 2_000,
      outputTokens: 20,
      ...cache,
      knownCostUsd: 1,
      costBy: "reported",
      unpricedTokens: 1_010,
    },
    {
      agent: "b",
      model: "m2",
      inputTokens: 1_000,
      outputTokens: 10,
      ...cache,
      cacheReadTokens: 0,
      knownCostUsd: 2,
      costBy: "computed",
      unpricedTokens: 0,
    },
  ]);
  expect(total).toMatchObject({ inputTokens: 3_000, knownCostUsd: 3, costBy: "mixed", unpricedTokens: 1_010 });
  expect(truncated).toBe(false);
});

it("sums by day, and by combinations, since a date", async () => {
  await writeUsage(
    "/gone",
    { at: "2026-01-10T12:00:00.000Z", costUsd: 1 },
    { at: "2026-01-12T12:00:00.000Z", costUsd: 2 },
    { at: "2026-01-12T12:01:00.000Z", costUsd: 4, agent: "b" },
  );
  expect((await getUsage("?by=day")).rows.map(({ day, knownCostUsd }) => [day, knownCostUsd])).toEqual([
    ["2026-01-10", 1],
    ["2026-01-12", 6],
  ]);
  const { rows, since } = await getUsage("?by=day&by=agent&by=day&since=2026-01-11");
  expect(rows.map(({ day, agent, knownCostUsd }) => [day, agent, knownCostUsd])).toEqual([
    ["2026-01-12", "a", 2],
    ["2026-01-12", "b", 4],
  ]);
  expect(new Date(since ?? "").getTime()).toBe(new Date(2026, 0, 11).getTime());
  expect((await getUsage("?agent=b")).total).toMatchObject({ knownCostUsd: 4 });
  expect(await getUsage("?since=5m")).toMatchObject({ rows: [], total: { inputTokens: 0, knownCostUsd: 0 } });
});

it("attributes usage to repositories, even if it was in a folder or a worktree of one", async () => {
  await mkdir(join(scene.cwd, ".git", "HEAD"), { recursive: true }); // enough to be found as a repository
  await mkdir(join(scene.cwd, "src"));
  await writeUsage(join(scene.cwd, "src"), { costUsd: 1 });
  await writeUsage(scene.cwd, { costUsd: 2 });
  await writeUsage(`${scene.cwd}/.rookery/worktrees/gone`, { costUsd: 4 });
  await writeUsage("/nowhere", { costUsd: 8 });
  const { rows } = await getUsage("?by=repository");
  expect(rows.map(({ repository, knownCostUsd }) => [repository, knownCostUsd])).toEqual(
    [
      [scene.cwd, 7],
      ["/nowhere", 8],
    ].sort(),
  );
});

it("reads only the logs of sessions that were used", async () => {
  const { store } = scene;
  await writeUsage("/gone");
  await writeUsage("/gone", { costUsd: 1 });
  let reads = 0;
  const counted = { list: store.list.bind(store), read: (query: ReadQuery) => ((reads += 1), store.read(query)) };
  expect(await sumUsage(counted, { by: ["agent"] })).toHaveLength(1);
  expect(reads).toBe(1);
});

it("reads only new events for the next report", async () => {
  const { store } = scene;
  await writeUsage("/gone", { costUsd: 1 });
  await writeUsage("/gone", { costUsd: 2 });
  expect((await getUsage()).total).toMatchObject({ knownCostUsd: 3 });
  const read = vi.spyOn(store, "read");
  expect((await getUsage("?by=day")).total).toMatchObject({ knownCostUsd: 3 });
  expect(read).not.toHaveBeenCalled();
  const [first] = await store.list();
  const sessionId = first?.id ?? "";
  const used = { type: "usage.reported", agent: "a", inputTokens: 1, outputTokens: 1, costUsd: 4 } as const;
  const events = [{ ...used, at: new Date().toISOString() }];
  await store.append({ sessionId, id: newId("app"), expectedHead: first?.head ?? 0, events });
  const { rows, total } = await getUsage();
  expect(total).toMatchObject({ knownCostUsd: 7 });
  expect(rows.map(({ model }) => model)).toEqual(["m1"]); // of the session, which is not read again
  expect(read.mock.calls.map(([query]) => [query.sessionId, query.after])).toEqual([[sessionId, first?.head]]);
});

it("reads sessions again that do not fit into the cache, and those that were created again", async () => {
  const { store } = scene;
  await writeUsage("/gone", { costUsd: 1 });
  await writeUsage("/gone", { costUsd: 2 });
  const [one, other] = await store.list();
  if (one === undefined || other === undefined) throw new Error("the sessions are missing");
  const read = vi.spyOn(store, "read");
  const cache = new UsageReportCache(store, 3);
  for (const session of [one, one, other, one, { ...one, createdAt: "2026-02-01T00:00:00.000Z" }]) {
    expect(await cache.read(session)).toHaveLength(1);
  }
  expect(read.mock.calls.map(([{ sessionId }]) => sessionId)).toEqual([one.id, other.id, one.id, one.id]);
});

it("leaves out a session that is deleted while the report is made", async () => {
  const { store } = scene;
  await writeUsage("/gone", { costUsd: 1 });
  await writeUsage("/gone", { costUsd: 2 });
  const read = vi.spyOn(store, "read").mockRejectedValueOnce(new RookeryError("session_not_found", "deleted"));
  const { knownCostUsd } = (await getUsage()).total as { readonly knownCostUsd: number };
  expect([1, 2]).toContain(knownCostUsd);
  expect(read).toHaveBeenCalledTimes(2);
});

it("lets other work run while it adds many reports that are in the cache", async () => {
  await writeUsage("/gone", ...Array.from({ length: 3_000 }, () => ({ costUsd: 1 })));
  await readUsageReport(scene.store, { by: ["day"] });
  let ticks = 0;
  const turn = (): void => {
    ticks += 1;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  expect((await readUsageReport(scene.store, { by: ["day"] })).total).toMatchObject({ knownCostUsd: 3_000 });
  clearImmediate(immediate);
  expect(ticks).toBeGreaterThanOrEqual(2);
});

it("leaves rows out beyond the limit, but not from the total", async () => {
  await writeUsage("/gone", { model: "x", costUsd: 1 }, { model: "y", costUsd: 2 });
  const report = await readUsageReport(scene.store, { by: ["model"] }, 1);
  expect(report).toMatchObject({ rows: [{ model: "x" }], total: { knownCostUsd: 3 }, truncated: true });
});

it("refuses bad times and dimensions", async () => {
  const many = Array.from({ length: 50 }, () => "by=day").join("&");
  for (const query of ["since=yesterday", "since=", "since=999999w", "by=cwd", "by=__proto__", many, "limit=1"])
    expect(await scene.get(`/v1/usage?${query}`)).toMatchObject({ status: 400, json: { code: "input_invalid" } });
});
