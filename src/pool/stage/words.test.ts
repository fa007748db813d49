import { expect, it } from "vitest";
import type { Stage, TaskState } from "../../domain/index.ts";
import { firstWords, goOnWords } from "./words.ts";

const CODE = { kind: "agent", name: "code", agent: "robin", tries: 1 } as const;
const REVIEW = { ...CODE, name: "review", agent: "wren", prompt: "Review {prompt} since {base}" } as const;

function state(over: Partial<TaskState> = {}): TaskState {
  return {
    id: "it",
    head: 1,
    spec: {
      prompt: "do it",
      title: "do it",
      repository: "/project",
      agent: "robin",
      provider: "p",
      priority: 0,
      needs: [],
      retries: 0,
      budget: {},
      stages: [CODE, REVIEW],
      limits: {},
    },
    phase: "running",
    createdAt: "",
    updatedAt: "",
    ranMs: 0,
    runs: 1,
    retried: 0,
    stage: 0,
    attempts: {},
    sessions: [],
    stopAsked: false,
    removed: false,
    worktree: { path: "", branch: "", base: "main", baseCommit: "c0", ready: true, removed: false },
    ...over,
  };
}

type AgentStage = Extract<Stage, { kind: "agent" }>;

it.each<[string, Partial<TaskState>, AgentStage, boolean, string]>([
  ["begins", {}, CODE, false, "do it"],
  ["reviews", { stage: 1 }, REVIEW, false, "Review do it since c0"],
  ["reviews again what was mended", { stage: 1, feedback: "no" }, REVIEW, true, "Review do it since c0"],
  ["knows the task, and is spoken to", { said: "so" }, CODE, true, "so"],
  ["does not know the task, and is spoken to", { said: "so" }, CODE, false, "do it\n\nso"],
])("an agent that %s is told what it needs", (_, over, stage, hasWorked, words) => {
  expect(firstWords(state(over), stage, hasWorked)).toBe(words);
});

it("an agent that was gone back to is told why, in its own words where it has a place for it", () => {
  const back = state({ feedback: "too slow", mends: 0, said: "hurry" });
  expect(firstWords(back, CODE, true)).toMatch(/^It did not pass.*too slow.*Mend it.*\n\nhurry$/s);
  const own = { ...CODE, prompt: "{prompt}, mind: {feedback}" };
  expect(firstWords({ ...back, said: undefined }, own, true)).toBe("do it, mind: too slow");
});

it("an agent that was interrupted is told what its own stage was, and not that of another", () => {
  expect(goOnWords(state({ stage: 1 }), REVIEW, false)).toMatch(/^You were interrupted.*\n\nReview do it since c0$/s);
  expect(goOnWords(state({ feedback: "too slow", mends: 0 }), CODE, true)).toMatch(/interrupted.*too slow/s);
  expect(goOnWords(state({ said: "so" }), CODE, true)).toMatch(/interrupted.*\n\nso$/s);
});
