/**
 * Checks drafts against the exported event schemas, so that no store contains an event that its readers would reject.
 * A schema is compiled on first use, because a short run needs few of them.
 */
import { z } from "zod";
import { eventBodies, type EventDraft } from "./events.ts";
import { taskEventBodies, type TaskEventDraft } from "./task/events.ts";
import { describeZodError } from "./validate.ts";

/** Returns what is wrong with a draft, or undefined if it is valid. */
export function findDraftProblem(draft: EventDraft): string | undefined {
  return findProblem(draft, sessionSchemas, sessionDraftSchema);
}

/** Like `findDraftProblem`, for the log of a task. */
export function findTaskDraftProblem(draft: TaskEventDraft): string | undefined {
  return findProblem(draft, taskSchemas, taskDraftSchema);
}

type DraftSchema = z.ZodType | undefined;

const sessionSchemas = new Map<unknown, DraftSchema>();
const taskSchemas = new Map<unknown, DraftSchema>();

function findProblem(
  draft: { readonly type: string },
  schemas: Map<unknown, DraftSchema>,
  compile: (type: string) => DraftSchema,
): string | undefined {
  const { type } = draft;
  let schema = schemas.get(type);
  if (schema === undefined) {
    schema = compile(type);
    if (schema === undefined) return `there is no event type ${JSON.stringify(type)}`;
    schemas.set(type, schema);
  }
  const { error } = schema.safeParse(draft);
  return error === undefined ? undefined : describeZodError(error);
}

/** A draft may be a copied event, as in a fork. The store replaces these two fields. */
const replaced = () => ({ seq: z.unknown().optional(), sessionId: z.unknown().optional() });

function sessionDraftSchema(type: string): DraftSchema {
  const bodies = eventBodies();
  if (!Object.hasOwn(bodies, type)) return undefined;
  const { shape } = bodies[type as keyof typeof bodies];
  const envelope = { at: z.iso.datetime(), agent: z.string(), turnId: z.string().optional() };
  return z.strictObject({ ...envelope, ...replaced(), type: z.literal(type), ...shape });
}

function taskDraftSchema(type: string): DraftSchema {
  const bodies = taskEventBodies();
  if (!Object.hasOwn(bodies, type)) return undefined;
  const { shape } = bodies[type as keyof typeof bodies];
  const stored = { seq: z.unknown().optional(), taskId: z.unknown().optional() };
  return z.strictObject({ at: z.iso.datetime(), ...stored, type: z.literal(type), ...shape });
}
