import { expect, it } from "vitest";
import { isOurTurn } from "./placement.ts";
import { takeEveryTask } from "./remote/test-placement.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const rules = { ...takeEveryTask("alpha"), preferLastHostMs: 60_000, expectsHost: (host: string) => host === "beta" };
const interrupted = (secondsAgo: number) => new Date(NOW - secondsAgo * 1_000).toISOString();

it.each([
  ["that has not run yet", {}, true],
  ["whose run has not been interrupted", { host: "beta" }, true],
  ["of its own", { host: "alpha", interruptedAt: interrupted(1) }, true],
  ["of a living host, a moment after the interruption", { host: "beta", interruptedAt: interrupted(1) }, false],
  ["of a living host that has not taken it in time", { host: "beta", interruptedAt: interrupted(60) }, true],
  ["of a host without a worker", { host: "gamma", interruptedAt: interrupted(1) }, true],
  ["of a host whose clock is slightly ahead", { host: "beta", interruptedAt: interrupted(-2) }, false],
  ["of a host whose clock is an hour ahead", { host: "beta", interruptedAt: interrupted(-3_600) }, true],
  ["of a host whose clock is an hour behind", { host: "beta", interruptedAt: interrupted(3_600) }, true],
])("decides whether a host takes a task %s", (_, task, expected) => {
  expect(isOurTurn(task, rules, NOW)).toBe(expected);
});
