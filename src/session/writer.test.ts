import { describe, expect, it } from "vitest";
import { RookeryError, type EventBody, type SessionEvent, type Store } from "../domain/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { DONE, openScriptedSession, type ScriptedTurn } from "./test-scripted-session.ts";

/** A store whose appends fail while `failure` is set, or if `refuse` throws. */
function faultyStore() {
  const log: { failure?: Error | undefined; durable?: boolean; refuse?: (event: { type: string }) => void } = {};
  const through = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          if (name !== "append") return Reflect.apply(value, target, args) as unknown;
          const [{ events }] = args as Parameters<Store["append"]>;
          for (const event of events) log.refuse?.(event);
          if (log.failure === undefined) return target.append(...(args as Parameters<Store["append"]>));
          if (log.durable === true) await target.append(...(args as Parameters<Store["append"]>));
          throw log.failure;
        };
      },
    });
  return Object.assign(log, { through });
}

const full = () => new RookeryError("store_full", "no space left");

function nested(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

function toolWith(input: unknown): EventBody {
  return { type: "tool.started", toolId: "t1", name: "probe", title: "probe", kind: "other", input };
}

function endsOf(events: readonly SessionEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === "turn.ended" ? [event.outcome] : []));
}

/** The first turn records these events; the others record nothing. */
function saysFirst(...bodies: EventBody[]): ScriptedTurn {
  let turns = 0;
  return (turn) => {
    turns += 1;
    if (turns === 1) turn.log.record(...bodies);
    return Promise.resolve(DONE);
  };
}

const itself: { self?: unknown } = {};
itself.self = itself;

describe("an event that the log cannot hold", () => {
  const cases: [string, EventBody][] = [
    ["an array of 5,000 levels", toolWith(nested(5_000))],
    ["an object of 100,000 levels", toolWith(JSON.parse('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)))],
    ["a circular value", toolWith(itself)],
    ["a bigint", toolWith({ n: 1n })],
    ["a value whose toJSON throws", toolWith({ toJSON: (): unknown => JSON.parse("{") })],
    ["an event of 70 MB", toolWith({ text: "x".repeat(70_000_000) })],
    ["an event of 70 MB once it is escaped", toolWith({ text: "\u0001".repeat(12_000_000) })],
    ["a message of 70 MB", { type: "message.completed", messageId: "m1", text: "x".repeat(70_000_000) }],
  ];

  it.each(cases)("is truncated and fails its turn, and the session continues: %s", async (_, body) => {
    await using scene = await openScriptedSession(saysFirst(body));
    expect(await scene.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "agent_failed" });
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
    const events = await scene.events();
    expect(events.map(({ type }) => type)).toContain(body.type);
    expect(JSON.stringify(events).length).toBeLessThan(5_000_000);
    expect(events).toContainEqual(expect.objectContaining({ type: "notice", code: "event_cut" }));
    expect(endsOf(events)).toHaveLength(2);
  });

  it("fails only its turn if it is a deeply nested effect outcome", async () => {
    let turns = 0;
    await using scene = await openScriptedSession(async (turn) => {
      turns += 1;
      if (turns > 1) return DONE;
      const key = { sessionId: "", turnId: turn.turnId, step: 1, kind: "model" as const, id: "m" };
      const perform = () => Promise.resolve({ value: nested(5_000) });
      await turn.effects.run({ key, repeatable: false, perform, parse: (value) => value, lost: () => ({ value: 1 }) });
      return DONE;
    });
    expect(await scene.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "agent_failed" });
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
  });

  it("is replaced if only the store refuses it, in a turn and between turns, and its neighbors are kept", async () => {
    const log = faultyStore();
    log.refuse = (event) => {
      if ("title" in event && event.title === "bad") throw new TypeError("title.trim is not a function");
    };
    const said = (text: string): EventBody => ({ type: "message.completed", messageId: text, text });
    const bad = { ...toolWith({}), title: "bad" } as EventBody;
    await using scene = await openScriptedSession(saysFirst(said("before"), bad, said("after")), log);
    expect(await scene.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "agent_failed" });
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
    const lines = (await scene.events()).map((event) => (event.type === "message.completed" ? event.text : event.type));
    expect(lines.slice(1)).toEqual([
      "turn.started",
      "before",
      "notice",
      "after",
      "turn.ended",
      "turn.started",
      "turn.ended",
    ]);
  });

  const unfoldable: [string, object][] = [
    ["of an unknown type", { type: "nothing.known" }],
    ["without its fields", { type: "permission.resolved" }],
    ["with an invalid list", { type: "budget.set", scopes: 5 }],
  ];

  it.each(unfoldable)("fails its turn if it is %s, and the session continues", async (_, body) => {
    await using scene = await openScriptedSession(saysFirst(body as EventBody));
    expect(await scene.session.prompt("go").outcome).toMatchObject({ status: "failed", code: "agent_failed" });
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
    expect(await scene.events()).toContainEqual(expect.objectContaining({ type: "notice", code: "event_cut" }));
  });

  it("is replaced if it is an outcome, so that the turn ends", async () => {
    const log = faultyStore();
    log.refuse = (event) => {
      if (JSON.stringify(event).includes("odd")) throw new RookeryError("input_invalid", "not in the schema");
    };
    await using scene = await openScriptedSession(() => Promise.resolve({ status: "done", stopReason: "odd" }), log);
    await scene.session.prompt("go").outcome;
    expect(endsOf(await scene.events())).toEqual([expect.objectContaining({ status: "failed", code: "internal" })]);
  });
});

describe("a batch that is larger than one append", () => {
  it("is split into several appends even if the agent does not wait: 100 messages of 1 MB", async () => {
    const text = "x".repeat(1_000_000);
    const messages = Array.from({ length: 100 }, (_, n): EventBody => {
      return { type: "message.completed", messageId: `m${n}`, text };
    });
    const sizes: number[] = [];
    const through = (store: Store): Store =>
      Object.assign(Object.create(store) as Store, {
        append: (append: Parameters<Store["append"]>[0]) => {
          sizes.push(JSON.stringify(append).length);
          return store.append(append);
        },
      });
    const play: ScriptedTurn = (turn) => {
      for (const message of messages) turn.log.record(message);
      return Promise.resolve(DONE);
    };
    const real = openMemoryStore();
    const bound = new Proxy(real, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    await using scene = await openScriptedSession(play, { store: bound, through });
    expect(await scene.session.prompt("go").outcome).toEqual(DONE);
    expect(Math.max(...sizes)).toBeLessThan(20_000_000);
    let seen = 0;
    for (let after = 0; ;) {
      const { events, head } = await scene.store.read({ sessionId: scene.session.id, after });
      seen += events.filter(({ type }) => type === "message.completed").length;
      after = events.at(-1)?.seq ?? head;
      if (after >= head) break;
    }
    expect(seen).toBe(100);
  });

  it("makes an agent that awaits `ready` wait until the store works again", async () => {
    const log = faultyStore();
    let wasReadyDuringOutage = true;
    const play: ScriptedTurn = async (turn) => {
      log.failure = full();
      for (let n = 0; n < 10; n += 1) {
        turn.log.record({ type: "message.completed", messageId: `m${n}`, text: "x".repeat(1_000_000) });
      }
      const ready = turn.log.ready();
      const pause = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50));
      wasReadyDuringOutage = await Promise.race([ready.then(() => true), pause]);
      log.failure = undefined;
      await ready;
      return DONE;
    };
    await using scene = await openScriptedSession(play, log);
    expect(await scene.session.prompt("go").outcome).toEqual(DONE);
    expect(wasReadyDuringOutage).toBe(false);
  });
});

describe("a transient store failure", () => {
  const codes = ["store_full", "store_locked", "store_readonly", "store_unavailable"] as const;

  it.each(codes)("only delays the turn if %s ends soon", async (code) => {
    const log = faultyStore();
    const play: ScriptedTurn = async (turn) => {
      log.failure = new RookeryError(code, "for a moment");
      turn.log.record({ type: "message.completed", messageId: "m", text: "said meanwhile" });
      setTimeout(() => (log.failure = undefined), 100);
      await turn.log.commit();
      return DONE;
    };
    await using scene = await openScriptedSession(play, log);
    expect(await scene.session.prompt("go").outcome).toEqual(DONE);
    expect((await scene.events()).map(({ type }) => type)).toEqual([
      "session.opened",
      "turn.started",
      "message.completed",
      "turn.ended",
    ]);
  });

  it("does not repeat an append that was durable", async () => {
    const log = faultyStore();
    let turns = 0;
    const play: ScriptedTurn = async (turn) => {
      turns += 1;
      if (turns > 1) return DONE;
      Object.assign(log, { failure: full(), durable: true });
      setTimeout(() => (log.failure = undefined), 60);
      turn.log.record({ type: "message.completed", messageId: "m", text: "once" });
      await turn.log.commit();
      return DONE;
    };
    await using scene = await openScriptedSession(play, log);
    expect(await scene.session.prompt("go").outcome).toEqual(DONE);
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
    const events = await scene.events();
    expect(events.filter(({ type }) => type === "message.completed")).toHaveLength(1);
    expect(scene.session.state.head).toBe(events.at(-1)?.seq);
  });

  it("fails the turn with the store's code after the outage, and the session continues", async () => {
    const log = faultyStore();
    let turns = 0;
    const play: ScriptedTurn = async (turn) => {
      turns += 1;
      if (turns > 1) return DONE;
      log.failure = full();
      turn.log.record({ type: "message.completed", messageId: "m", text: "said meanwhile" });
      await new Promise<void>((resolve) => turn.signal.addEventListener("abort", () => resolve()));
      return { status: "cancelled" };
    };
    await using scene = await openScriptedSession(play, { ...log, patienceMs: 50 });
    await expect(scene.session.prompt("go").outcome).rejects.toMatchObject({ code: "store_full" });
    await expect(scene.session.prompt("too soon").outcome).rejects.toMatchObject({ code: "store_full" });
    log.failure = undefined;
    expect(await scene.session.prompt("again").outcome).toEqual(DONE);
    const events = await scene.events();
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(2);
    expect(endsOf(events)).toEqual([expect.objectContaining({ status: "failed", code: "store_full" }), DONE]);
    expect(events).toContainEqual(expect.objectContaining({ type: "message.completed", text: "said meanwhile" }));
  });

  it("ends the turn without another prompt after the outage", async () => {
    const log = faultyStore();
    const play: ScriptedTurn = async (turn) => {
      log.failure = full();
      await new Promise<void>((resolve) => turn.signal.addEventListener("abort", () => resolve()));
      return { status: "cancelled" };
    };
    const recording: ScriptedTurn = async (turn) => {
      const outcome = play(turn);
      turn.log.record({ type: "message.completed", messageId: "m", text: "said meanwhile" });
      return outcome;
    };
    await using scene = await openScriptedSession(recording, { ...log, patienceMs: 50 });
    await expect(scene.session.prompt("go").outcome).rejects.toMatchObject({ code: "store_full" });
    log.failure = undefined;
    for await (const event of scene.store.follow({ sessionId: scene.session.id, after: 0 })) {
      if (event.type === "turn.ended") break;
    }
    expect(endsOf(await scene.events())).toHaveLength(1);
  });

  it.each([false, true])(
    "rejects a prompt that could not be recorded, and starts no turn later (durable: %s)",
    async (durable) => {
      const log = faultyStore();
      await using scene = await openScriptedSession(() => Promise.resolve(DONE), log);
      Object.assign(log, { failure: full(), durable });
      await expect(scene.session.prompt("lost").outcome).rejects.toMatchObject({ code: "store_full" });
      log.failure = undefined;
      expect(await scene.session.prompt("again").outcome).toEqual(DONE);
      const events = await scene.events();
      const failed = expect.objectContaining({ status: "failed", code: "store_full" }) as unknown;
      expect(endsOf(events)).toEqual(durable ? [failed, DONE] : [DONE]);
      expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(durable ? 2 : 1);
    },
  );

  it("stops the session's writer with store_replaced", async () => {
    const log = faultyStore();
    await using scene = await openScriptedSession(() => Promise.resolve(DONE), log);
    log.failure = new RookeryError("store_replaced", "the file was deleted");
    await expect(scene.session.prompt("go").outcome).rejects.toMatchObject({ code: "store_replaced" });
    expect(scene.session.isBroken).toBe(true);
    log.failure = undefined;
  });

  it("does not deliver an input later that could not be queued", async () => {
    const log = faultyStore();
    await using scene = await openScriptedSession(() => Promise.resolve(DONE), log);
    log.failure = full();
    await expect(scene.session.queue("lost")).rejects.toMatchObject({ code: "store_full" });
    log.failure = undefined;
    await scene.session.queue("kept");
    await scene.session.idle();
    expect((await scene.events()).filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });
});
