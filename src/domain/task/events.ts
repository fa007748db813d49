/** Everything that can happen to a task: a log of its own beside those of its sessions, as schemas that the types are inferred from. */
import { z } from "zod";
import { Budget } from "../budget.ts";
import { MergeHow, TaskId, TaskSpec } from "./spec.ts";

export const TaskOutcome = z.enum(["done", "failed", "stopped"]);
export type TaskOutcome = z.infer<typeof TaskOutcome>;

export const MergeOutcome = z.enum(["merged", "nothing", "conflicts", "gate_failed", "failed"]);
export type MergeOutcome = z.infer<typeof MergeOutcome>;

export const taskEventBodies = lazily(() => ({
  "task.created": z.strictObject({ spec: TaskSpec }),
  /** It waits for its turn once more: a person resumed it, a limit has passed, its process died, or it is tried again. */
  "task.queued": z.strictObject({
    why: z.enum(["resumed", "continued", "interrupted", "retried"]),
    message: z.string().optional(),
    /** Not before then. */
    notBefore: z.iso.datetime().optional(),
    /** What a person says to it when it is resumed. */
    prompt: z.string().optional(),
    budget: Budget.optional(),
  }),
  /** Someone took it, and prepares it. */
  "task.started": z.strictObject({ run: z.int().positive(), owner: z.string() }),
  "worktree.made": z.strictObject({
    path: z.string(),
    branch: z.string(),
    /** The branch or what else was asked for, and the commit that it was then. */
    base: z.string(),
    baseCommit: z.string(),
    port: z.int().optional(),
    /** Of the user's, brought into it: they are not the task's to commit. */
    copied: z.array(z.string()).optional(),
    /** It needs its set-up; if not, it is as it was, but for the port. */
    anew: z.boolean(),
  }),
  /** Was there anything to set up? */
  "worktree.ready": z.strictObject({ setUp: z.boolean() }),
  /** What a command of it printed: `setup`, a stage, or `gate`. */
  "output.text": z.strictObject({ from: z.string(), text: z.string() }),
  "stage.started": z.strictObject({
    stage: z.int().nonnegative(),
    name: z.string(),
    attempt: z.int().positive(),
    /** Of an agent's stage: where it works, how many turns there were before, and the one that is its own. */
    sessionId: z.string().optional(),
    turns: z.int().nonnegative().optional(),
    turnId: z.string().optional(),
  }),
  "stage.ended": z.strictObject({
    stage: z.int().nonnegative(),
    name: z.string(),
    passed: z.boolean(),
    message: z.string().optional(),
    /** Where it goes on, if not at the next one. */
    backTo: z.int().nonnegative().optional(),
  }),
  /** A limit of its account: nobody holds it until then. */
  "task.parked": z.strictObject({ until: z.iso.datetime(), message: z.string() }),
  /** Whoever runs it is to stop. */
  "task.stop_asked": z.strictObject({ reason: z.string().optional() }),
  "task.ended": z.strictObject({ outcome: TaskOutcome, code: z.string().optional(), message: z.string().optional() }),
  "merge.asked": z.strictObject({
    mergeId: z.string(),
    how: MergeHow,
    into: z.string(),
    gate: z.string().optional(),
    message: z.string().optional(),
  }),
  /** What is about to become the head of the branch: whoever finds it there knows that it was done. */
  "merge.prepared": z.strictObject({
    mergeId: z.string(),
    commit: z.string(),
    /** What the task's own branch was then. */
    tip: z.string().optional(),
  }),
  "merge.ended": z.strictObject({
    mergeId: z.string(),
    outcome: MergeOutcome,
    /** What the branch it went into is then. */
    commit: z.string().optional(),
    /** What the task's own branch was: nothing of it is lost as long as it is that. */
    tip: z.string().optional(),
    conflicts: z.array(z.string()).optional(),
    message: z.string().optional(),
  }),
  "worktree.removed": z.strictObject({ path: z.string(), branch: z.string(), forced: z.boolean() }),
  /** It is listed no more. */
  "task.removed": z.strictObject({ message: z.string().optional() }),
  notice: z.strictObject({ level: z.enum(["info", "warning", "error"]), code: z.string(), message: z.string() }),
}));

type TaskEventBodies = ReturnType<typeof taskEventBodies>;
export type TaskEventType = keyof TaskEventBodies;
export type TaskEventBody = { [Type in TaskEventType]: { type: Type } & z.infer<TaskEventBodies[Type]> }[TaskEventType];
/** What is appended. */
export type TaskEventDraft = TaskEventBody & { at: string };
/** What is in the log. */
export type TaskEvent = TaskEventDraft & { seq: number; taskId: string };

/** The schema of an entry; exported so that others can check what they read. */
export const TaskEvent: z.ZodType<TaskEvent> = z.lazy(
  () =>
    z.discriminatedUnion(
      "type",
      Object.entries(taskEventBodies()).map(([type, body]) =>
        z.strictObject({
          seq: z.int().positive(),
          at: z.iso.datetime(),
          taskId: TaskId,
          type: z.literal(type),
          ...body.shape,
        }),
      ) as unknown as [z.core.$ZodTypeDiscriminable],
    ) as unknown as z.ZodType<TaskEvent>,
);

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
