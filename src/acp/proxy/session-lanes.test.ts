import { expect, it } from "vitest";
import { SessionLanes } from "./session-lanes.ts";

const LIMIT = 64 * 1024 * 1024;

it("asks the connection to wait before messages of no session fill memory, also if many sessions are slow", () => {
  const lanes = new SessionLanes();
  const never = new Promise(() => undefined);
  const sessions = Array.from({ length: 100 }, (_, index) => `s${index}`);
  for (const session of sessions) void lanes.run(session, 0, () => never);
  let count = 0;
  let isFull = false;
  while (!isFull) {
    for (const session of sessions) void lanes.run(session, 0, () => undefined);
    isFull = lanes.run(undefined, 0, () => undefined) !== undefined;
    count += 1;
  }
  // Each round queues a message in each session, one behind all of them, and what tells it that these are done.
  expect(count).toBeLessThan(LIMIT / (256 * 2 * sessions.length));
});

it("passes a message of no session on behind a flushed session that is still busy", async () => {
  const lanes = new SessionLanes();
  const passed: string[] = [];
  let release = (): void => undefined;
  const busy = new Promise<void>((resolve) => (release = resolve));
  void lanes.run("s", 0, () => busy);
  void lanes.run(undefined, 0, () => passed.push("first"));
  lanes.flush("s");
  await new Promise((resolve) => setImmediate(resolve));
  void lanes.run(undefined, 0, () => passed.push("second"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(passed).toEqual(["first"]);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(passed).toEqual(["first", "second"]);
});
