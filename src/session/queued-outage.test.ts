import { expect, it, vi } from "vitest";
import { RookeryError, type EventDraft, type SessionEvent, type Store } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";
import { DONE, openScriptedSession, type ScriptedTurn } from "./test-scripted-session.ts";

const locked = () => new RookeryError("store_locked", "another process holds the lock");

/** Passes every call to `intercept`, which may reject instead. */
function intercepted(intercept: (call: { name: string; args: unknown[]; run: () => Promise<unknown> }) => unknown) {
  return (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function" || typeof name === "symbol" || /^(follow|watch)/.test(name)) return value;
        return (...args: unknown[]): unknown =>
          intercept({ name, args, run: () => Reflect.apply(value, target, args) as Promise<unknown> });
      },
    });
}

function startsQueued(name: string, args: readonly unknown[]): boolean {
  const [append] = args as Parameters<Store["append"]>;
  return (
    name === "append" && append.events.some((event) => event.type === "turn.started" && event.inputId !== undefined)
  );
}

/** The first turn queues an input for the next one. */
function firstThen(queue: () => Promise<unknown>): ScriptedTurn {
  let turns = 0;
  return async () => {
    turns += 1;
    if (turns === 1) await queue();
    return DONE;
  };
}

async function untilTurnsEnded(store: Store, sessionId: string, count: number): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of store.follow({ sessionId, after: 0 })) {
    events.push(event);
    if (events.filter(({ type }) => type === "turn.ended").length === count) break;
  }
  return events;
}

it.each(["before", "after"])(
  "runs a queued input once if the start of its turn fails %s it is durable",
  async (when) => {
    let failures = 1;
    const through = intercepted(async ({ name, args, run }) => {
      if (!startsQueued(name, args) || failures === 0) return run();
      failures -= 1;
      if (when === "after") await run();
      throw locked();
    });
    const play = firstThen(() => scene.session.queue("and then"));
    await using scene = await openScriptedSession(play, { through });
    await scene.session.prompt("go").outcome;
    await scene.session.idle();
    const events = await untilTurnsEnded(scene.store, scene.session.id, 2);
    const turns = events.filter(({ type }) => type === "turn.started" || type === "turn.ended").slice(2);
    expect(turns).toMatchObject([{ type: "turn.started" }, { type: "turn.ended", outcome: DONE }]);
    expect(failures).toBe(0);
  },
);

it("ends a turn that started just before another process withdrew its input, although the store reported a failure", async () => {
  let failures = 1;
  const through = intercepted(async ({ name, args, run }) => {
    if (!startsQueued(name, args) || failures === 0) return run();
    failures -= 1;
    await run();
    const { store, session } = scene;
    const { head } = await store.appendAtHead({ sessionId: session.id, id: "app_late", decide: () => [withdrawal] });
    await vi.waitFor(() => expect(session.state.head).toBe(head)); // this process has read both events
    throw locked();
  });
  let withdrawal: EventDraft;
  const play = firstThen(async () => {
    const inputId = await scene.session.queue("and then");
    withdrawal = { type: "input.withdrawn", inputId, agent: "robin", at: new Date(scene.clock.now()).toISOString() };
  });
  await using scene = await openScriptedSession(play, { through });
  await scene.session.prompt("go").outcome;
  await scene.session.idle();
  expect(scene.session.state.turn).toBeUndefined();
  expect((await scene.lines()).slice(-3)).toEqual(["started and then", "withdrew an input", "ended done"]);
});

it("waits between attempts to start a queued input during an outage, and runs it once afterward", async () => {
  const many = deferred();
  let failingSince: number | undefined;
  let isRepaired = false;
  let calls = 0;
  const through = intercepted(({ name, args, run }) => {
    if (startsQueued(name, args)) failingSince ??= performance.now();
    if (failingSince === undefined || isRepaired) return run();
    if (name === "append" || name === "read") calls += 1;
    if (calls >= 8) many.resolve();
    return calls > 1_000 ? new Promise(() => undefined) : Promise.reject(locked()); // stops a loop without a pause
  });
  const play = firstThen(() => scene.session.queue("and then"));
  await using scene = await openScriptedSession(play, { through, patienceMs: 20 });
  await scene.session.prompt("go").outcome;
  await many.promise;
  expect(performance.now() - (failingSince ?? 0)).toBeGreaterThan(100);
  isRepaired = true;
  const events = await untilTurnsEnded(scene.store, scene.session.id, 2);
  expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ outcome: DONE });
});
