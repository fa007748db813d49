/** Schemas of the roster. */
import { z } from "zod";
import { MergeHow, MergeOutcome, TASK_STATUSES, TaskSpec, type TaskPhase } from "../../../domain/index.ts";
import type { Roster, RosterTask } from "../roster.ts";
import { SummarySchema } from "./session.ts";

const PHASES = TASK_STATUSES.filter((status): status is TaskPhase => status !== "waiting");

/** A state as its log folds to it, so that a reader can apply later events with the same code. */
export const RosterTaskSchema: z.ZodType<RosterTask> = z.object({
  id: z.string(),
  head: z.int().describe("The `seq` of the last event of the task's own log. Skip events up to it."),
  spec: TaskSpec,
  phase: z.enum(PHASES),
  createdAt: z.string(),
  updatedAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  ranMs: z.number().describe("How long earlier runs took, in milliseconds."),
  runningSince: z.string().optional(),
  runs: z.int(),
  retried: z.int(),
  owner: z.string().optional(),
  notBefore: z.string().optional(),
  stage: z.int(),
  attempts: z.record(z.string(), z.int()).describe("How many times each stage started, by its index."),
  current: z
    .object({
      stage: z.int(),
      name: z.string(),
      attempt: z.int(),
      sessionId: z.string().optional(),
      turns: z.int().optional(),
      turnId: z.string().optional(),
    })
    .optional(),
  feedback: z.string().optional(),
  mends: z.int().optional(),
  said: z.string().optional(),
  sessions: z.array(z.object({ id: z.string(), stage: z.string() })).describe("Newest last."),
  worktree: z
    .object({
      path: z.string(),
      branch: z.string(),
      base: z.string(),
      baseCommit: z.string(),
      port: z.int().optional(),
      copied: z.array(z.string()).optional(),
      ready: z.boolean(),
      removed: z.boolean(),
    })
    .optional(),
  stopAsked: z.boolean(),
  code: z.string().optional(),
  message: z.string().optional(),
  merge: z
    .object({
      mergeId: z.string(),
      how: MergeHow,
      into: z.string(),
      gate: z.string().optional(),
      message: z.string().optional(),
      askedAt: z.string(),
      commit: z.string().optional(),
      tip: z.string().optional(),
      outcome: MergeOutcome.optional(),
      conflicts: z.array(z.string()).optional(),
      why: z.string().optional(),
    })
    .optional(),
  removed: z.boolean(),
  abridged: z.literal(true).optional().describe("Set if a long text in it is cut. `showTask` has the whole prompt."),
});

export const RosterSchema: z.ZodType<Roster> = z.object({
  position: z.int().describe("Continue with `/v1/events?after=` this position. Skip events up to the `head` of a log."),
  now: z.string().describe("The time of the server, which may differ from the client's."),
  sessions: z
    .array(SummarySchema)
    .describe("Newest first: the newest 1,000, all that have a running turn, and those of the listed tasks."),
  tasks: z
    .array(RosterTaskSchema)
    .describe(
      "Newest first: the newest 1,000, all that have not ended, and tasks that a queued task needs, even if removed.",
    ),
  truncated: z.boolean().describe("True if there are older sessions or tasks that are not listed."),
});
