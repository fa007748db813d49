import { expect, it, vi } from "vitest";
import { systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call } from "../testing/index.ts";
import { cancelStoredTurn, waitForTurnEnd } from "./cancel-turn.ts";
import { LATER, dyingAfter, openScene } from "./test-scene.ts";
import { DONE, openScriptedSession, waitForStop } from "./test-scripted-session.ts";

it("cancels a turn that another process drives, and only this turn", async () => {
  let turns = 0;
  await using s = await openScriptedSession(async (turn) => {
    turns += 1;
    if (turns > 1) return DONE;
    await waitForStop(turn);
    return { status: "cancelled" };
  });
  const options = { sessionId: s.session.id, clock: s.clock };
  expect(await cancelStoredTurn(s.store, options)).toBeUndefined();
  const { id, outcome } = s.session.prompt("go", { turnId: "trn_one" });
  await s.session.queue("later");
  expect(await cancelStoredTurn(s.store, options)).toBe(id);
  await waitForTurnEnd(s.store, s.session.id, id);
  expect(await outcome).toEqual({ status: "cancelled" });
  await s.session.idle();
  expect(await s.lines()).toEqual([
    "started go",
    "queued later",
    "asked to cancel",
    "ended cancelled",
    "started later",
    "ended done",
  ]);
  expect(await cancelStoredTurn(s.store, options)).toBeUndefined();
});

it("cancels a turn whose process died before it could follow", async () => {
  const store = openMemoryStore();
  await using s = await openScene([call("bash", { command: "true" })], {}, dyingAfter(store, 2)); // opened, started
  s.session.prompt("go").outcome.catch(() => undefined);
  const options = { sessionId: s.session.id, clock: systemClock };
  await vi.waitFor(async () => expect(await cancelStoredTurn(store, options)).toMatch(/^trn_/));
  const next = await s.open(LATER, store);
  const again = await next.openSession({ id: s.session.id });
  expect(await again.resumed?.outcome).toEqual({ status: "cancelled" });
  await next.close();
});

it("ends a turn whose process is dead, without opening its agent", async () => {
  const store = openMemoryStore();
  await using s = await openScene([call("bash", { command: "true" })], {}, dyingAfter(store, 2)); // opened, started
  const turn = s.session.prompt("go");
  await turn.outcome.catch(() => undefined);
  await using next = await s.open(LATER, store);
  expect(await next.cancelTurn(s.session.id)).toBe(turn.id);
  expect(await store.summary(s.session.id)).toMatchObject({ status: "idle", lastOutcome: "cancelled", turns: 1 });
});

it("requests nothing if the turn ends while the request is made", async () => {
  await using s = await openScriptedSession(async (turn) => (await waitForStop(turn), DONE));
  s.session.prompt("go");
  await vi.waitFor(async () => expect(await s.store.summary(s.session.id)).toMatchObject({ status: "running" }));
  const endFirst: typeof s.store.appendAtHead = async (given) => {
    await s.session.cancel();
    return s.store.appendAtHead(given);
  };
  const store = new Proxy(s.store, {
    get: (target, name) => {
      if (name === "appendAtHead") return endFirst;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  expect(await cancelStoredTurn(store, { sessionId: s.session.id, clock: s.clock })).toBeUndefined();
  expect(await s.lines()).toEqual(["started go", "ended done"]);
});
