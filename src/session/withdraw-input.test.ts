import { describe, expect, it } from "vitest";
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
    await expect(s.session.withdraw(steer)).rejects.toMatchObject(NOT_QUEUED);
  });

  it("is withdrawn by another process, which gets its text", async () => {
    await using s = await openScriptedSession(async (turn) => (await waitForStop(turn), { status: "cancelled" }));
    s.session.prompt("go");
    const inputId = await s.session.queue("rather so", { deliver: "steer" });
    const options = { sessionId: s.session.id, inputId, clock: systemClock };
    expect(await withdrawStoredInput(s.store, options)).toEqual([{ type: "text", text: "rather so" }]);
    await expect(withdrawStoredInput(s.store, options)).rejects.toMatchObject(NOT_QUEUED);
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
