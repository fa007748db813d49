import { describe, expect, it } from "vitest";
import type { ClientTurn } from "../index.ts";
import { heldMemory } from "../../programs/test-memory.ts";
import { failure, openScene, readAll, stalled } from "./test-scene.ts";

const MIB = 1024 * 1024;
/** What waits here, what waits to be handled, and what the streams between hold. */
const BOUND = 4 * MIB;

/** The numbers of a flood, as they come. */
async function* numbers(turn: ClientTurn): AsyncGenerator<number> {
  for await (const item of turn) {
    if (item.kind !== "update" || item.update.sessionUpdate !== "agent_message_chunk") continue;
    if (item.update.content.type === "text") yield parseInt(item.update.content.text, 10);
  }
}

async function count(turn: ClientTurn): Promise<number> {
  let next = 0;
  for await (const number of numbers(turn)) if (number === next) next += 1;
  return next;
}

describe("a turn that nobody reads", () => {
  it("makes the agent wait, however much it has to say", async () => {
    await using scene = await openScene({ prompts: [[{ flood: { count: 1_000_000 } }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    expect(scene.taken()).toBeLessThan(BOUND);
    let read = 0;
    for await (const number of numbers(turn)) {
      expect(number).toBe(read++);
      if (read === 20_000) break; // that is more than waited
    }
    expect(read).toBe(20_000);
  });

  it("is there whole when it is read", async () => {
    const updates = 100_000;
    await using scene = await openScene({ prompts: [[{ flood: { count: updates } }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    expect(await count(turn)).toBe(updates);
    expect(session.dropped).toBe(0);
  });

  it("makes the agent wait again whenever its reader stops", async () => {
    await using scene = await openScene({ prompts: [[{ flood: { count: 2_000, padding: "x".repeat(8 * 1024) } }]] });
    const session = await scene.client.session("/project").create();
    const reader = numbers(session.prompt("go"));
    let read = 0;
    for (let pause = 1; pause <= 3; pause += 1) {
      for (; read < pause * 500; read += 1) expect((await reader.next()).value).toBe(read);
      await stalled(scene);
      expect(scene.taken()).toBeLessThan(read * 9 * 1024 + BOUND);
    }
    for await (const number of reader) expect(number).toBe(read++);
    expect(read).toBe(2_000);
  });

  it("keeps nothing of what was read, while there is more to read", async () => {
    const padding = "x".repeat(64 * 1024);
    await using scene = await openScene({ prompts: [[{ flood: { count: 900, padding } }]] });
    const session = await scene.client.session("/project").create();
    const reader = numbers(session.prompt("go"));
    await reader.next();
    await stalled(scene);
    const before = heldMemory();
    for (let read = 0; read < 800; read += 1) {
      await reader.next();
      await new Promise(setImmediate); // more comes before it has read all that is there
    }
    expect(heldMemory() - before).toBeLessThan(8 * MIB);
  });

  it("does not keep another session from being used", async () => {
    const padding = "x".repeat(8 * 1024);
    await using scene = await openScene({
      prompts: [{ when: "flood", steps: [{ flood: { count: 2_000, padding } }] }],
      otherwise: [{ say: "fine" }],
    });
    const [one, other] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    const flooded = one.prompt("flood");
    await stalled(scene);
    expect(await other.prompt("go").readText()).toBe("fine");
    expect((await scene.client.listSessions()).sessions).toHaveLength(2);
    expect((await scene.client.session("/c").create()).id).toBe("session-3");
    expect(await count(flooded)).toBe(2_000);
  });

  it("makes the agent wait again when nobody else waits for it", async () => {
    const padding = "x".repeat(64 * 1024);
    await using scene = await openScene({
      prompts: [{ when: "flood", steps: [{ flood: { count: 500, padding } }] }, [{ say: "fine" }]],
    });
    const [one, other] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    const flooded = one.prompt("flood");
    await stalled(scene);
    const before = scene.taken();
    await other.prompt("go").finish();
    await stalled(scene);
    expect(scene.taken()).toBeGreaterThan(before);
    expect(scene.taken()).toBeLessThan(3 * BOUND);
    expect(await count(flooded)).toBe(500);
  });

  it("does not keep its own reader waiting, who waits for another session in the middle of it", async () => {
    const padding = "x".repeat(8 * 1024);
    await using scene = await openScene({
      prompts: [{ when: "flood", steps: [{ flood: { count: 1_000, padding } }] }],
      otherwise: [{ say: "fine" }],
    });
    const [one, other] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    let read = 0;
    for await (const number of numbers(one.prompt("flood"))) {
      expect(number).toBe(read++);
      if (read % 250 === 1) expect(await other.prompt("go").readText()).toBe("fine");
    }
    expect(read).toBe(1_000);
  });

  it("fails where it cannot be made to wait, and only that turn", async () => {
    const padding = "x".repeat(MIB);
    await using scene = await openScene({
      prompts: [
        { when: "flood", steps: [{ flood: { count: 70, padding } }] },
        { when: "wait", steps: [{ say: "a" }, { waitForMessage: "_go" }, { say: "b" }] },
      ],
      otherwise: [{ say: "fine" }],
    });
    const [one, other] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    const waiting = other.prompt("wait").readText();
    const flooded = one.prompt("flood");
    await flooded.response;
    expect(await failure(readAll(flooded))).toMatchObject({ code: "input_too_large" });
    await scene.client.notify("_go");
    expect(await waiting).toBe("ab");
    expect(await one.prompt("go").readText()).toBe("fine");
    expect(one.dropped).toBeGreaterThan(60);
  });
});

it("what is left unread of many turns is bounded, and the latest can be read", async () => {
  const padding = "x".repeat(16 * 1024);
  await using scene = await openScene({ otherwise: [{ flood: { count: 50, padding } }] });
  const session = await scene.client.session("/project").create();
  const turns: ClientTurn[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const prompted = session.prompt("go");
    turns.push(prompted);
    await prompted.response;
  }
  expect(await failure(readAll(turns[0]!))).toMatchObject({ code: "input_too_large" });
  expect(await count(turns.at(-1)!)).toBe(50);
  expect(session.dropped).toBeGreaterThan(200);
  expect(session.take().length).toBeLessThan(20 * 51 - session.dropped);
});
