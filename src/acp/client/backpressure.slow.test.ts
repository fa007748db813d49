import { describe, expect, it } from "vitest";
import type { ClientTurn } from "../index.ts";
import { heldMemory } from "../../programs/test-memory.ts";
import { getRejection, openScene, readAll, stalled } from "./test-scene.ts";

const MIB = 1024 * 1024;
/** Unread items, messages to handle, and the buffers of the streams between. */
const BOUND = 4 * MIB;

/** The numbers of a flood in the order of arrival. */
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
  it("makes the agent wait, no matter how much it sends", async () => {
    await using scene = await openScene({ prompts: [[{ flood: { count: 1_000_000 } }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    expect(scene.taken()).toBeLessThan(BOUND);
    let read = 0;
    for await (const number of numbers(turn)) {
      expect(number).toBe(read++);
      if (read === 20_000) break; // more than was buffered
    }
    expect(read).toBe(20_000);
  });

  it("is complete when someone reads it later", async () => {
    const updates = 100_000;
    await using scene = await openScene({ prompts: [[{ flood: { count: updates } }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    expect(await count(turn)).toBe(updates);
    expect(session.dropped).toBe(0);
  });

  it("makes the agent wait again whenever the reader pauses", async () => {
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

  it("frees items that were read while more arrive", async () => {
    const padding = "x".repeat(64 * 1024);
    await using scene = await openScene({ prompts: [[{ flood: { count: 900, padding } }]] });
    const session = await scene.client.session("/project").create();
    const reader = numbers(session.prompt("go"));
    await reader.next();
    await stalled(scene);
    const before = heldMemory();
    for (let read = 0; read < 800; read += 1) {
      await reader.next();
      await new Promise(setImmediate); // more arrives before everything is read
    }
    expect(heldMemory() - before).toBeLessThan(8 * MIB);
  });

  it("does not block another session", async () => {
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

  it("makes the agent wait again once nobody else waits for it", async () => {
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

  it("does not block a reader that waits for another session in between", async () => {
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

  it("fails alone if the agent cannot be made to wait", async () => {
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
    expect(await getRejection(readAll(flooded))).toMatchObject({ code: "input_too_large" });
    await scene.client.notify("_go");
    expect(await waiting).toBe("ab");
    expect(await one.prompt("go").readText()).toBe("fine");
    expect(one.dropped).toBeGreaterThan(60);
  });
});

it("drops the oldest unread turns above the limit and keeps the latest readable", async () => {
  const padding = "x".repeat(16 * 1024);
  await using scene = await openScene({ otherwise: [{ flood: { count: 50, padding } }] });
  const session = await scene.client.session("/project").create();
  const turns: ClientTurn[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const prompted = session.prompt("go");
    turns.push(prompted);
    await prompted.response;
  }
  expect(await getRejection(readAll(turns[0]!))).toMatchObject({ code: "input_too_large" });
  expect(await count(turns.at(-1)!)).toBe(50);
  expect(session.dropped).toBeGreaterThan(200);
  expect(session.take().length).toBeLessThan(20 * 51 - session.dropped);
});
