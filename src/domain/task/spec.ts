/** What a task is asked to be: fixed when it is given, so that a later change of a file changes nothing that waits. */
import { z } from "zod";
import { Budget } from "../budget.ts";
import { MERGE_METHODS } from "../enums.ts";
import { PermissionPolicy } from "../events.ts";

/** Also the name of a folder and the end of a branch's, so it is none that git, a shell or a path would take for more. */
export const TaskId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9](?:[a-z0-9_-]|\.(?=[a-z0-9]))*$/, "expected small letters, digits, and - _ . between them")
  .refine((id) => !id.endsWith(".lock"), "must not end with .lock")
  .refine((id) => !id.startsWith("ses_"), "must not begin as a session's does");

const name = z.string().min(1).max(200);

export const MergeHow = z.enum(MERGE_METHODS);
export type MergeHow = z.infer<typeof MergeHow>;

/** What a stage has in common: when it does not pass, the task goes back to an earlier one, or fails. */
const stage = {
  name,
  backTo: name.optional(),
  /** How often the stage may be gone through before the task fails. */
  tries: z.int().min(1).max(100),
};

export const Stage = z.lazy(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      ...stage,
      kind: z.literal("agent"),
      agent: name,
      model: z.string().optional(),
      /** The task's own if not said; `{prompt}`, `{feedback}` and `{base}` stand for what they say. */
      prompt: z.string().optional(),
      /** It passes if a line of its last message is this; whatever it says if not said. */
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
    /** The root of its repository, with symbolic links resolved. */
    repository: z.string(),
    /** Of the first stage that has one. */
    agent: z.string(),
    /** Whose account it uses, for the limit: `anthropic`, or the backend where the program does not say. */
    provider: z.string(),
    model: z.string().optional(),
    permissions: PermissionPolicy.optional(),
    /** A branch, tag or commit; what is checked out when it is prepared if not said. */
    base: z.string().optional(),
    /** The greater, the sooner. */
    priority: z.int().min(-1000).max(1000),
    /** Tasks that must be done first. */
    needs: z.array(TaskId),
    /** How often it is tried again after an agent failed. */
    retries: z.int().min(0).max(100),
    budget: Budget,
    stages: z.array(Stage).min(1).max(50),
    /** How many may run at once that share its repository, its agent or its provider. */
    limits: z.strictObject({
      repository: z.int().positive().optional(),
      agent: z.int().positive().optional(),
      provider: z.int().positive().optional(),
    }),
  }),
);
export type TaskSpec = z.infer<typeof TaskSpec>;
