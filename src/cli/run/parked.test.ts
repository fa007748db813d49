import { expect, it, vi } from "vitest";
import type { LimitReached } from "../../domain/index.ts";
import { DONE, openScriptedSession } from "../../session/test-scripted-session.ts";
import { dyingAfter } from "../../session/test-scene.ts";
import { collectingIo } from "../test-io.ts";
import { driveSession } from "./drive.ts";

const LIMITED: LimitReached = { status: "limited", message: "Limit reached", resetsAt: "2026-01-01T05:00:00.000Z" };
const FIVE_HOURS = 5 * 3600;

/** Continues a session whose process was killed while its turn was parked. */
async function joined(prompt: string | undefined) {
  const heard: string[] = [];
  const s = await openScriptedSession(
    (turn) => {
      heard.push(turn.input.map((part) => (part.type === "text" ? part.text : "")).join(""));
      return Promise.resolve(heard.length === 1 ? LIMITED : DONE);
    },
    { through: (store) => dyingAfter(store, 3) },
  );
  const { outcome } = s.session.prompt("first");
  outcome.catch(() => undefined); // it is dead
  await vi.waitFor(() => expect(s.session.state.turn?.parkedUntil).toBeDefined());
  const after = (await s.store.summary(s.session.id))?.head ?? 0;
  const session = await s.reopen();
  const io = collectingIo("/");
  const code = driveSession({
    io,
    store: s.store,
    session,
    prompt,
    json: false,
    atTerminal: false,
    attended: false,
    after,
  });
  await vi.waitFor(() => expect(io.text()).toContain("this process waits until 2026-01-01T05:00:05.000Z"));
  return { ...s, io, code, heard };
}

it.each([
  ["continues the turn at its time", undefined, ["first", "first"]],
  ["continues the turn before a new prompt", "second", ["first", "first", "second"]],
])("joining a parked session %s", async (_, prompt, expected) => {
  await using s = await joined(prompt);
  expect(s.heard).toEqual(["first"]);
  s.clock.advance(FIVE_HOURS);
  expect(await s.code).toBe(0);
  expect(s.heard).toEqual(expected);
  expect(s.io.text()).toContain("the limit has passed; the turn continues\ndone · ");
});

it("cancels the parked turn and starts no prompt after an interrupt", async () => {
  await using s = await joined("second");
  for (const cancel of s.io.onOutputClosed) cancel();
  expect(await s.code).toBe(130);
  expect(s.heard).toEqual(["first"]);
  expect((await s.lines()).at(-1)).toBe("ended cancelled");
});
