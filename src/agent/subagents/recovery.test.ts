import { expect, it } from "vitest";
import type { SessionEvent, Store } from "../../domain/index.ts";
import { call, say, transcript, type Script } from "../../testing/index.ts";
import { deferred, systemClock } from "../../stdx/index.ts";
import { dyingAfter, LATER } from "../../session/test-scene.ts";
import { openSubagentScene, getPrompt, lastToolText } from "./test-scene.ts";

const count = (events: readonly SessionEvent[], type: SessionEvent["type"]) =>
  events.filter((event) => event.type === type).length;

/** Kills the process after every eighth commit; `ROOKERY_MATRIX=1` covers every commit. */
const STEP = process.env["ROOKERY_MATRIX"] === undefined ? 8 : 1;

const tasks = [
  { prompt: "count a", title: "A" },
  { prompt: "count b", title: "B" },
];

/** Replies only from the request, like a real model, so that a repeated request gets the same reply. */
const script: Script = (request) => {
  const resultCount = request.toolResults.length;
  if (getPrompt(request) === "go") return resultCount === 0 ? call("delegate", { tasks }) : say("Heard.");
  const name = getPrompt(request).replace("count ", "");
  return resultCount === 0 ? call("bash", { command: `echo ${name} >> count` }) : say(`counted ${name}`);
};

/**
 * Runs a process that is killed after this many commits of all logs together, then one that continues. Returns whether
 * the first one was killed.
 */
async function dieAfter(commits: number): Promise<boolean> {
  await using w = await openSubagentScene(script);
  const dying = await w.open(systemClock, dyingAfter(w.store, commits));
  const first = await dying.openSession({ permissions: "all" });
  const died = await first.prompt("go").outcome.then(
    () => false,
    () => true,
  );
  await dying.close().catch(() => undefined);
  const ended = new Set<string>();
  for (const child of await w.childrenOf(first.id)) {
    const log = await w.events(child).catch(() => []);
    if (count(log, "turn.ended") > 0) ended.add(child);
  }
  const asked = w.model.requests.length;
  await using rookery = await w.open(LATER);
  const session = await rookery.openSession({ id: first.id, permissions: "all" });
  if (session.resumed !== undefined) expect(await session.resumed.outcome).toMatchObject({ status: "done" });
  else if (session.state.turns === 0) await session.prompt("go").outcome;

  const events = await w.events(first.id);
  expect(count(events, "turn.ended")).toBe(1);
  expect(count(events, "subagent.started")).toBe(2);
  expect(count(events, "subagent.ended")).toBe(2);
  expect(count(events, "tool.ended")).toBe(1);
  expect(lastToolText(events)).toMatch(/^2 of 2 sub-agents completed/);
  const children = await w.childrenOf(first.id);
  expect(new Set(children).size).toBe(2);
  expect((await w.store.list({ parent: first.id })).map(({ id }) => id).sort()).toEqual([...children].sort());
  for (const child of children) {
    const log = await w.events(child);
    expect(count(log, "turn.started")).toBe(1);
    expect(count(log, "turn.ended")).toBe(1);
    const lines = transcript(log).filter((line) => line !== "notice turn_resumed");
    expect(lines.slice(-2)).toEqual([expect.stringMatching(/^says counted [ab]$/), "ended done"]);
  }
  const ran = (await w.file("count")).split("\n").filter((line) => line !== "");
  expect(ran.length).toBe(new Set(ran).size); // no command ran twice
  const later = w.model.requests.slice(asked);
  for (const child of ended) {
    const [begin] = (await w.events(child)).filter((event) => event.type === "turn.started");
    const prompt = begin?.input[0]?.type === "text" ? begin.input[0].text : "";
    expect(later.filter((request) => getPrompt(request) === prompt)).toEqual([]); // finished children send no further requests
  }
  return died;
}

it(
  "after a crash at any commit, finds each child again and runs each one exactly once",
  { timeout: 300_000 },
  async () => {
    let commits = 1;
    while (await dieAfter(commits)) commits += STEP;
    expect(commits).toBeGreaterThan(15);
  },
);

/** Opens a parent whose process was killed after one child ended and while the other waits for its model. */
async function openWithKilledParent() {
  const never = deferred();
  const w = await openSubagentScene(async (request, index) => {
    if (getPrompt(request) === "count b") await never.promise;
    return typeof script === "function" ? script(request, index) : say("");
  });
  w.owned.defer(() => Promise.resolve(never.resolve()));
  const store = killable(w.store);
  const dying = await w.open(systemClock, store);
  const first = await dying.openSession({ permissions: "all" });
  const turn = first.prompt("go");
  for await (const event of turn) if (event.type === "subagent.ended") break;
  await w.model.received(3); // including the request without a reply
  store.kill();
  turn.outcome.catch(() => undefined);
  return { ...w, id: first.id };
}

it.each(["closed", "cancelled when it is opened again"])(
  "leaves no child running if its parent's process was killed and the parent is %s",
  async (how) => {
    await using w = await openWithKilledParent();
    await using rookery = await w.open(LATER);
    if (how === "closed") await rookery.endSession(w.id);
    else {
      const session = await rookery.openSession({ id: w.id });
      await session.cancel();
    }
    const children = await w.childrenOf(w.id);
    const ends = await Promise.all(children.map(async (child) => (await w.lines(child)).at(-1)));
    expect(ends.sort()).toEqual(["ended cancelled", "ended done"]);
    const events = await w.events(w.id);
    const ofChildren = transcript(events).filter((line) => line.startsWith("subagent "));
    expect(ofChildren.sort()).toEqual(["subagent A", "subagent B", "subagent cancelled", "subagent done"]);
    expect(count(events, "turn.ended")).toBe(1);
  },
);

/** After `kill`, nothing is written, as if the process were gone. */
function killable(store: Store): Store & { kill(): void } {
  let dead: Store | undefined;
  return new Proxy(store, {
    get(target, name) {
      if (name === "kill") return () => (dead = dyingAfter(target, 0));
      const from = dead ?? target;
      const value: unknown = Reflect.get(from, name);
      return typeof value === "function" ? (value.bind(from) as unknown) : value;
    },
  }) as Store & { kill(): void };
}
