import { expect, it } from "vitest";
import type { Busy, Candidate } from "../domain/index.ts";
import { chooseNext } from "./choose.ts";

let order = 0;
function candidate(id: string, over: Partial<Candidate> = {}): Candidate {
  order += 1;
  return { id, repository: "/a", agent: "robin", provider: "p", priority: 0, order, limits: {}, ...over };
}
const busy = (id: string, over: Partial<Busy> = {}): Busy => ({
  id,
  repository: "/a",
  agent: "robin",
  provider: "p",
  ...over,
});

it("chooses the oldest task", () => {
  expect(chooseNext([candidate("first"), candidate("second")], [], 4)).toBe("first");
});

it("prefers a higher priority to age and to a repository with fewer running tasks", () => {
  const candidates = [candidate("old", { repository: "/b" }), candidate("urgent", { priority: 5 })];
  expect(chooseNext(candidates, [busy("x")], 4)).toBe("urgent");
});

it("prefers a repository without running tasks", () => {
  const candidates = [candidate("old"), candidate("other", { repository: "/b" })];
  expect(chooseNext(candidates, [busy("x")], 4)).toBe("other");
});

it("chooses nothing when the overall limit is reached", () => {
  expect(chooseNext([candidate("a")], [busy("x"), busy("y")], 2)).toBeUndefined();
});

it.each([
  ["repository", { repository: 1 }, { agent: "wren", provider: "q" }],
  ["agent", { agent: 1 }, { repository: "/b", provider: "q" }],
  ["provider", { provider: 1 }, { repository: "/b", agent: "wren" }],
])("skips a task whose %s is at its limit, but not the tasks after it", (_, limits, others) => {
  const held = candidate("held", { limits });
  const free = candidate("free", { repository: "/c", agent: "owl", provider: "r", limits });
  expect(chooseNext([held, free], [busy("x")], 4)).toBe("free");
  expect(chooseNext([held], [busy("x", others)], 4)).toBeUndefined();
  expect(chooseNext([held], [busy("x", { repository: "/z", agent: "z", provider: "z" })], 4)).toBe("held");
});
