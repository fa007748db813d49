/**
 * The specification of a task. Fixed at creation, so that later changes of configuration files do not affect queued
 * tasks.
 */
import { z } from "zod";
import { Budget } from "../budget-schema.ts";
import { MERGE_METHODS } from "../enums.ts";
import { PermissionPolicy } from "../events.ts";

/**
 * Also the name of a directory and the end of a branch name. Restricted to characters that are safe in branch names,
 * shells and paths.
 */
export const TaskId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9](?:[a-z0-9_-]|\.(?=[a-z0-9]))*$/, "expected lowercase letters and digits, with - _ . between them")
  .refine((id) => !id.endsWith(".lock"), "must not end with .lock")
  .refine((id) => !id.startsWith("ses_"), "must not start with ses_, which marks a session ID");

/** A property of a worker that a task can require, such as `gpu`. */
export const TaskLabel = z.string().regex(/^[\w.-]{1,64}$/, "expected at most 64 letters, digits, - _ and .");

const name = z.string().min(1).max(200);

export const MergeHow = z.enum(MERGE_METHODS);
export type MergeHow = z.infer<typeof MergeHow>;

/** Common fields of stages. If a stage does not pass, the task returns to an earlier stage or fails. */
const stage = {
  name,
  backTo: name.optional(),
  /** How many times the stage may run before the task fails. */
  tries: z.int().min(1).max(100),
};

export const Stage = z.lazy(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      ...stage,
      kind: z.literal("agent"),
      agent: name,
      model: z.string().optional(),
      /**
       * Default: the prompt of the task. `{prompt}`, `{feedback}`, `{base}`, `{task}`, `{branch}`, `{worktree}` and `{port}`
       * are replaced.
       */
      prompt: z.string().optional(),
      /** The stage passes if a line of the last message equals this. Default: it always passes. */
      pass: z.string().optional(),
    }),
    z.strictObject({
      ...stage,
      kind: z.literal("command"),
      command: z.string().min(1),
      timeout: z.number().positive(),
    }),
    z.strictObject({
      ...stage,
      kind: z.literal("merge"),
      how: MergeHow,
      into: name.optional(),
      gate: z.string().optional(),
    }),
  ]),
);
export type Stage = z.infer<typeof Stage>;

export const TaskSpec = z.lazy(() =>
  z.strictObject({
    prompt: z.string(),
    title: z.string(),
    /** The root of the repository, with symbolic links resolved. */
    repository: z.string(),
    /** The host that created the task and has the repository, if several hosts share the store. */
    host: z.string().optional(),
    /** The URL of the remote, without credentials, if every host gets the repository from there. Default: only `host` runs the task. */
    remote: z.string().optional(),
    /** Labels that a worker must have to run the task. */
    labels: z.array(TaskLabel).max(20).optional(),
    /** The agent of the first agent stage. */
    agent: z.string(),
    /**
     * The account that the task uses, for limits: such as `anthropic`, or the backend if the program's provider is
     * unknown.
     */
    provider: z.string(),
    model: z.string().optional(),
    permissions: PermissionPolicy.optional(),
    /** A branch, tag or commit. Default: the commit that is checked out when the task is prepared. */
    base: z.string().optional(),
    /** Higher priorities run first. */
    priority: z.int().min(-1000).max(1000),
    /** Tasks that must be done before this one. */
    needs: z.array(TaskId),
    /** How many times the task is retried after its agent failed. */
    retries: z.int().min(0).max(100),
    budget: Budget,
    stages: z.array(Stage).min(1).max(50),
    /** How many tasks of the same repository, agent or provider may run at once. */
    limits: z.strictObject({
      repository: z.int().positive().optional(),
      agent: z.int().positive().optional(),
      provider: z.int().positive().optional(),
    }),
  }),
);
export type TaskSpec = z.infer<typeof TaskSpec>;
