import { expect, it } from "vitest";
import type { Stage, TaskState } from "../../domain/index.ts";
import { stagePrompt, resumePrompt } from "./prompts.ts";

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
  ["starts", {}, CODE, false, "do it"],
  ["reviews", { stage: 1 }, REVIEW, false, "Review do it since c0"],
  ["reviews a fix", { stage: 1, feedback: "no" }, REVIEW, true, "Review do it since c0"],
  ["knows the task and gets a user prompt", { said: "so" }, CODE, true, "so"],
  ["does not know the task and gets a user prompt", { said: "so" }, CODE, false, "do it\n\nso"],
])("builds the prompt for an agent that %s", (_, over, stage, hasWorked, words) => {
  expect(stagePrompt(state(over), stage, hasWorked)).toBe(words);
});

it("adds the feedback of a failed stage, in the {feedback} placeholder if the prompt has one", () => {
  const back = state({ feedback: "too slow", mends: 0, said: "hurry" });
  expect(stagePrompt(back, CODE, true)).toMatch(
    /^Your work did not pass a later stage.*too slow.*Fix the problem.*\n\nhurry$/s,
  );
  const own = { ...CODE, prompt: "{prompt}, mind: {feedback}" };
  expect(stagePrompt({ ...back, said: undefined }, own, true)).toBe("do it, mind: too slow");
});

it("repeats the prompt of the interrupted stage, not of another one", () => {
  expect(resumePrompt(state({ stage: 1 }), REVIEW, false)).toMatch(
    /^You were interrupted.*\n\nReview do it since c0$/s,
  );
  expect(resumePrompt(state({ feedback: "too slow", mends: 0 }), CODE, true)).toMatch(/interrupted.*too slow/s);
  expect(resumePrompt(state({ said: "so" }), CODE, true)).toMatch(/interrupted.*\n\nso$/s);
});
