import { expect, it } from "vitest";
import type { TaskState } from "../domain/index.ts";
import { isOurMerge } from "./recover.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const clock = { now: () => NOW };

it.each([
  ["of its own", "alpha", 1, true],
  ["of another host, a moment ago", "beta", 1, false],
  ["of another host that has not finished it in time", "beta", 61, true],
  ["of a host whose clock is an hour ahead", "beta", -3_600, true],
])("decides whether a host finishes a merge %s", (_, host, secondsAgo, expected) => {
  const askedAt = new Date(NOW - secondsAgo * 1_000).toISOString();
  const state = {
    spec: { remote: "git://example" },
    worktree: { host, removed: false },
    merge: { askedAt },
  } as unknown as TaskState;
  expect(isOurMerge({ clock, host: "alpha" }, state)).toBe(expected);
});
