/**
 * The events of a task, as schemas from which the types are inferred. A task has its own log beside those of its
 * sessions.
 */
import { z } from "zod";
import { Budget } from "../budget-schema.ts";
import { MergeHow, TaskId, TaskSpec } from "./spec.ts";

export const TaskOutcome = z.enum(["done", "failed", "stopped"]);
export type TaskOutcome = z.infer<typeof TaskOutcome>;

export const MergeOutcome = z.enum(["merged", "nothing", "conflicts", "gate_failed", "failed"]);
export type MergeOutcome = z.infer<typeof MergeOutcome>;

export const taskEventBodies = lazily(() => ({
  "task.created": z.strictObject({ spec: TaskSpec }),
  /**
   * The task is queued again: a person resumed it, a limit has reset, its process died, it is retried, or the process
   * that took it cannot continue it, for example because it has no key or cannot reach the remote.
   */
  "task.queued": z.strictObject({
    why: z.enum(["resumed", "continued", "interrupted", "retried", "unavailable"]),
    message: z.string().optional(),
    /** The earliest time to start. */
    notBefore: z.iso.datetime().optional(),
    /** The message of the person who resumed it. */
    prompt: z.string().optional(),
    budget: Budget.optional(),
  }),
  /** A process claimed the task and prepares it. */
  "task.started": z.strictObject({
    run: z.int().positive(),
    owner: z.string(),
    /** The host of the process, if several hosts share the store. */
    host: z.string().optional(),
  }),
  "worktree.made": z.strictObject({
    path: z.string(),
    branch: z.string(),
    /** The requested branch, tag or commit, and the commit that it pointed to. */
    base: z.string(),
    baseCommit: z.string(),
    port: z.int().optional(),
    /** Files of the user that were copied into the worktree and must not be committed. */
    copied: z.array(z.string()).optional(),
    /** True if the worktree needs its setup. If false, only the port may have changed. */
    anew: z.boolean(),
    /** The host that has the worktree, if several hosts share the store. */
    host: z.string().optional(),
    /** The snapshot that it was restored from. */
    restored: z.string().optional(),
  }),
  /** `setUp`: whether a setup command ran. */
  "worktree.ready": z.strictObject({ setUp: z.boolean() }),
  /** The remote has a snapshot of the worktree, from which another host can continue. */
  "worktree.saved": z.strictObject({ commit: z.string(), host: z.string().optional() }),
  /** Output of a command: `setup`, a stage, or `gate`. */
  "output.text": z.strictObject({ from: z.string(), text: z.string() }),
  "stage.started": z.strictObject({
    stage: z.int().nonnegative(),
    name: z.string(),
    attempt: z.int().positive(),
    /** For an agent stage: its session, the number of earlier turns, and its own turn. */
    sessionId: z.string().optional(),
    turns: z.int().nonnegative().optional(),
    turnId: z.string().optional(),
  }),
  "stage.ended": z.strictObject({
    stage: z.int().nonnegative(),
    name: z.string(),
    passed: z.boolean(),
    message: z.string().optional(),
    /** The stage that comes next. Default: the next one in order. */
    backTo: z.int().nonnegative().optional(),
  }),
  /** The task waits for a usage limit to reset. No process holds it until then. */
  "task.parked": z.strictObject({ until: z.iso.datetime(), message: z.string() }),
  /** The process that runs the task must stop it. */
  "task.stop_asked": z.strictObject({ reason: z.string().optional() }),
  "task.ended": z.strictObject({ outcome: TaskOutcome, code: z.string().optional(), message: z.string().optional() }),
  "merge.asked": z.strictObject({
    mergeId: z.string(),
    how: MergeHow,
    into: z.string(),
    gate: z.string().optional(),
    message: z.string().optional(),
  }),
  /**
   * The merge is about to set the head of the branch to `commit`. After a crash, that commit proves that the merge
   * happened.
   */
  "merge.prepared": z.strictObject({
    mergeId: z.string(),
    commit: z.string(),
    /** The head of the task's branch at that time. */
    tip: z.string().optional(),
  }),
  /** The merge waits for something that passes by itself, such as a remote that is unreachable, and is tried again. */
  "merge.waiting": z.strictObject({ mergeId: z.string(), code: z.string(), message: z.string() }),
  "merge.ended": z.strictObject({
    mergeId: z.string(),
    outcome: MergeOutcome,
    /** The new head of the target branch. */
    commit: z.string().optional(),
    /** The head of the task's branch. If it has not moved, everything is merged. */
    tip: z.string().optional(),
    conflicts: z.array(z.string()).optional(),
    message: z.string().optional(),
  }),
  "worktree.removed": z.strictObject({ path: z.string(), branch: z.string(), forced: z.boolean() }),
  /** The task is no longer listed. */
  "task.removed": z.strictObject({ message: z.string().optional() }),
  notice: z.strictObject({ level: z.enum(["info", "warning", "error"]), code: z.string(), message: z.string() }),
}));

type TaskEventBodies = ReturnType<typeof taskEventBodies>;
export type TaskEventType = keyof TaskEventBodies;
export type TaskEventBody = { [Type in TaskEventType]: { type: Type } & z.infer<TaskEventBodies[Type]> }[TaskEventType];
/** An event to append. */
export type TaskEventDraft = TaskEventBody & { at: string };
/** An event in the log. */
export type TaskEvent = TaskEventDraft & { seq: number; taskId: string };

/** The schema of an event in a task's log, for programs that read logs. */
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
