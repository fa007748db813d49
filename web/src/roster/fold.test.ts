import { expect, it } from "vitest";
import type { SessionEvent } from "../../../src/domain/events.ts";
import { emptySummary } from "../../../src/domain/summary.ts";
import { RosterFold } from "./fold.ts";

const AT = "2026-01-01T00:00:00.000Z";

function opened(sessionId: string, seq: number, title: string): SessionEvent {
  const body = { type: "session.opened", backend: "api", cwd: "/w", permissions: "ask", title } as const;
  return { ...body, sessionId, seq, at: AT, agent: "claude" };
}

const notice = (sessionId: string, seq: number): SessionEvent => {
  return { type: "notice", level: "info", code: "x", message: "y", sessionId, seq, at: AT, agent: "claude" };
};

it("applies events after the snapshot once, also those that arrived before it", () => {
  const fold = new RosterFold();
  fold.hold();
  fold.add([notice("ses_1", 3), notice("ses_1", 4)]);
  fold.start([{ ...emptySummary("ses_1"), head: 3 }], []);
  fold.add([notice("ses_1", 4), notice("ses_1", 5), opened("ses_2", 1, "new")]);
  const { sessions } = fold.takeChanges(0);
  expect([...sessions.values()]).toMatchObject([{ head: 5 }, { head: 1, title: "new" }]);
  expect(fold.hasGap).toBe(false);
  expect(fold.takeChanges(0).sessions.size).toBe(0);
});

it("leaves out a deleted session, also if the snapshot still has it", () => {
  const fold = new RosterFold();
  fold.hold();
  fold.add([notice("ses_1", 4)]);
  fold.removeSession("ses_1");
  fold.start(
    [
      { ...emptySummary("ses_1"), head: 3 },
      { ...emptySummary("ses_2"), head: 1 },
    ],
    [],
  );
  expect([...fold.takeChanges(0).sessions.keys()]).toEqual(["ses_2"]);
  fold.removeSession("ses_2");
  expect([...fold.takeChanges(0).sessions]).toEqual([["ses_2", undefined]]);
  expect(fold.hasGap).toBe(false);
});

it("says that a snapshot is needed for a session whose earlier events it does not have", () => {
  const fold = new RosterFold();
  fold.start([], []);
  fold.add([notice("ses_old", 7)]);
  expect(fold.hasGap).toBe(true);
  expect(fold.takeChanges(0).sessions.size).toBe(0);
});
