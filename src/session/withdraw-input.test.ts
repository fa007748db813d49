import { describe, expect, it, vi } from "vitest";
import { RookeryError, newId, type EventBody } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, say } from "../testing/index.ts";
import { DONE, openScriptedSession, waitForStop } from "./test-scripted-session.ts";
import { openScene } from "./test-scene.ts";
import { withdrawStoredInput } from "./withdraw-input.ts";

const NOT_QUEUED = { code: "input_not_queued" };

describe("a queued input", () => {
  it("is withdrawn before the agent has it, and starts no turn", async () => {
    await using s = await openScriptedSession(async (turn) => (await waitForStop(turn), { status: "cancelled" }));
    s.session.prompt("go");
    const steer = await s.session.queue("rather so", { deliver: "steer" });
    const later = await s.session.queue("later");
    const withdrawn = Promise.all([s.session.withdraw(steer), s.session.withdraw(later)]);
    await s.session.cancel(); // at the same moment, like Esc
    expect(await withdrawn).toEqual([[{ type: "text", text: "rather so" }], [{ type: "text", text: "later" }]]);
    await s.session.idle();
    expect(await s.lines()).toEqual([
      "started go",
      "queued rather so",
      "queued later",
      "withdrew an input",
      "withdrew an input",
      "ended cancelled",
    ]);
    expect(await s.session.withdraw(steer)).toEqual([{ type: "text", text: "rather so" }]); // a retry changes nothing
    expect(await s.lines()).toHaveLength(6);
  });

  it("is withdrawn although the response of the store was lost", async () => {
    const store = openMemoryStore();
    const append = store.append.bind(store);
    await using s = await openScriptedSession(async (turn) => (await waitForStop(turn), { status: "cancelled" }), {
      store,
    });
    s.session.prompt("go");
    const inputId = await s.session.queue("later");
    store.append = async (given) => {
      await append(given);
      store.append = append;
      if (given.events.some(({ type }) => type === "input.withdrawn"))
        throw new RookeryError("store_unavailable", "the disk is slow");
      throw new Error("another event was appended first");
    };
    await expect(s.session.withdraw(inputId)).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await s.session.withdraw(inputId)).toEqual([{ type: "text", text: "later" }]);
    expect((await s.lines()).slice(1)).toEqual(["queued later", "withdrew an input"]);
  });

  it("is withdrawn by another process, which gets its text", async () => {
    await using s = await openScriptedSession(async (turn) => (await waitForStop(turn), { status: "cancelled" }));
    s.session.prompt("go");
    const inputId = await s.session.queue("rather so", { deliver: "steer" });
    const options = { sessionId: s.session.id, inputId, clock: systemClock };
    expect(await withdrawStoredInput(s.store, options)).toEqual([{ type: "text", text: "rather so" }]);
    expect(await withdrawStoredInput(s.store, options)).toEqual([{ type: "text", text: "rather so" }]);
    await s.session.cancel(); // this process has not read the withdrawal yet
    await s.session.idle();
    expect((await s.lines()).slice(-2)).toEqual(["withdrew an input", "ended cancelled"]);
    expect(s.session.state).toMatchObject({ queue: [], turns: 1 });
  });

  it("cannot be withdrawn after the agent got it", async () => {
    await using s = await openScriptedSession(() => Promise.resolve(DONE));
    const inputId = await s.session.queue("go");
    await s.session.idle();
    await expect(s.session.withdraw(inputId)).rejects.toMatchObject(NOT_QUEUED);
    const options = { sessionId: s.session.id, clock: systemClock };
    await expect(withdrawStoredInput(s.store, { ...options, inputId })).rejects.toMatchObject(NOT_QUEUED);
    await expect(withdrawStoredInput(s.store, { ...options, inputId: "inp_other" })).rejects.toMatchObject(NOT_QUEUED);
    expect(await s.lines()).toEqual(["queued go", "started go", "ended done"]);
  });

  it("that is unknown is searched for once", async () => {
    await using s = await openScriptedSession(() => Promise.resolve(DONE));
    await s.session.prompt("go").outcome;
    const read = vi.spyOn(s.store, "read");
    const options = { sessionId: s.session.id, inputId: "inp_other", clock: systemClock };
    await expect(withdrawStoredInput(s.store, options)).rejects.toMatchObject(NOT_QUEUED);
    expect(read.mock.calls.filter(([{ before }]) => before === undefined)).toHaveLength(1);
  });
});

describe("a withdrawal that loses the race against the start of a turn", () => {
  async function openRace(startsTurn: (head: number) => boolean) {
    const s = await openScriptedSession(() => Promise.resolve(DONE));
    await s.session[Symbol.asyncDispose]();
    const sessionId = s.session.id;
    const at = new Date(0).toISOString();
    const add = (event: EventBody) =>
      s.store.appendAtHead({ sessionId, id: newId("app"), decide: () => [{ ...event, at, agent: "a" }] });
    const inputId = "inp_one";
    await add({ type: "input.queued", inputId, input: [{ type: "text", text: "go" }] });
    let appends = 0;
    const store = new Proxy(s.store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name !== "appendAtHead") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return async (given: Parameters<typeof s.store.appendAtHead>[0]) => {
          appends += 1;
          await add(
            startsTurn(appends)
              ? { type: "turn.started", input: [{ type: "text", text: "go" }], inputId }
              : { type: "notice", level: "info", code: "busy", message: "busy" },
          );
          return s.store.appendAtHead(given);
        };
      },
    });
    return { s, store, options: { sessionId, inputId, clock: systemClock } };
  }

  it("appends no event", async () => {
    const { s, store, options } = await openRace(() => true);
    await using _ = s;
    await expect(withdrawStoredInput(store, options)).rejects.toMatchObject(NOT_QUEUED);
    expect((await s.lines()).slice(-2)).toEqual(["queued go", "started go"]);
  });

  it("succeeds while another process keeps appending other events", async () => {
    const { s, store, options } = await openRace(() => false);
    await using _ = s;
    expect(await withdrawStoredInput(store, options)).toEqual([{ type: "text", text: "go" }]);
    expect((await s.lines()).at(-1)).toBe("withdrew an input");
  });
});

it("does not give the agent a steering input that another process withdraws in the same moment", async () => {
  const store = openMemoryStore();
  const append = store.append.bind(store);
  let withdraw: (() => Promise<unknown>) | undefined;
  store.append = async (given) => {
    if (given.events.some(({ type }) => type === "input.delivered")) await withdraw?.();
    return append(given);
  };
  await using s = await openScene([call("bash", { command: "true" }), say("as before")], {}, store);
  for await (const event of s.session.prompt("go")) {
    if (event.type !== "permission.requested") continue;
    const sessionId = s.session.id;
    const inputId = await s.session.queue("not this", { deliver: "steer" });
    await s.session.queue("but this", { deliver: "steer" });
    withdraw = async () => {
      withdraw = undefined;
      return withdrawStoredInput(store, { sessionId, inputId, clock: systemClock });
    };
    await s.session.answer(event.requestId, { decision: "allow" });
  }
  await s.session.idle();
  expect((await s.lines()).slice(-4)).toEqual([
    "withdrew an input",
    "steered but this",
    "says as before",
    "ended done",
  ]);
  expect(JSON.stringify(s.model.requests)).not.toContain("not this");
  expect(s.session.state.queue).toEqual([]);
});
