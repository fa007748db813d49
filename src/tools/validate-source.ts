/**
 * Validates what a tool source returns and what it passes to its context. Sources may be plain JavaScript or remote
 * servers.
 */
import { z } from "zod";
import { boundFileDiffs } from "../domain/file-diff.ts";
import {
  FileDiff,
  findDraftProblem,
  Location,
  ToolKind,
  type AskOptions,
  type CallPreview,
  type EventBody,
  type Question,
  type ToolContext,
  type ToolDescription,
  type ToolHints,
  type ToolSource,
  type ToolSpec,
} from "../domain/index.ts";
import { toPlainJson } from "./tool-result.ts";

/** Titles appear in the log, in permission requests and on one terminal line. */
const MAX_TITLE_LENGTH = 1_000;
const MAX_LOCATIONS = 1_000;
const MAX_REFUSAL_LENGTH = 100_000;
const MAX_PROGRESS_LENGTH = 64 * 1024;

const Locations = z.lazy(() => z.array(Location).max(MAX_LOCATIONS));

/** Returns the description without invalid fields. `fallback` replaces a missing or empty title. */
export function sanitizeDescription(raw: unknown, fallback: string): ToolDescription {
  const { title, locations } = (raw ?? {}) as { readonly title?: unknown; readonly locations?: unknown };
  const text = typeof title === "string" && title.trim() !== "" ? title : fallback;
  const places = Locations.safeParse(locations).data;
  return { title: text.slice(0, MAX_TITLE_LENGTH).toWellFormed(), ...(places !== undefined && { locations: places }) };
}

const Preview = z.lazy(() =>
  z.object({ refusal: z.string().optional(), diffs: z.array(FileDiff).readonly().optional() }),
);

/** Returns the preview with bounded texts, or an empty one if it is invalid. */
export function validatePreview(raw: unknown): CallPreview {
  const { refusal, diffs } = Preview.safeParse(raw).data ?? {};
  return {
    ...(refusal !== undefined && { refusal: refusal.slice(0, MAX_REFUSAL_LENGTH).toWellFormed() }),
    ...(diffs !== undefined && { diffs: boundFileDiffs(diffs) }),
  };
}

/**
 * Returns the spec without optional fields of the wrong type. An unknown kind becomes `other`. Only `true` counts as
 * read-only, because a read-only tool runs without permission.
 */
export function sanitizeSpec(raw: ToolSpec): Omit<ToolSpec, "inputSchema"> {
  const { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, hints, title, outputSchema, defer } =
    raw as { readonly [Key in keyof ToolSpec]: unknown };
  return {
    name: name as string,
    description: typeof description === "string" ? description : "",
    kind: ToolKind.safeParse(kind).data ?? "other",
    readOnly: readOnly === true,
    ...pickBooleans({ repeatable, concurrent, defer }),
    ...(typeof timeoutMs === "number" && timeoutMs > 0 && { timeoutMs }),
    ...(isObject(hints) && { hints: pickBooleans(hints, HINTS) }),
    ...(typeof title === "string" && { title: title.slice(0, MAX_TITLE_LENGTH).toWellFormed() }),
    ...(isObject(outputSchema) && { outputSchema }),
  };
}

const HINTS: readonly string[] = ["readOnly", "destructive", "idempotent", "openWorld"] satisfies (keyof ToolHints)[];

function pickBooleans(
  values: Readonly<Record<string, unknown>>,
  known: readonly string[] = Object.keys(values),
): Record<string, boolean> {
  return Object.fromEntries(
    known.flatMap((key) => (typeof values[key] === "boolean" ? [[key, values[key]] as const] : [])),
  );
}

/** Lists the tools of a source. Throws if the source does not return an array. */
export function listSourceTools(source: ToolSource): readonly ToolSpec[] {
  const list: unknown = source.list();
  if (!Array.isArray(list)) throw new Error("list() did not return an array");
  return list as readonly ToolSpec[];
}

/**
 * Wraps a context so that its methods validate their arguments, because one invalid event makes the session unwritable.
 * An invalid argument throws, and the tool fails; progress that is not a string is dropped.
 */
export function validatingContext(context: ToolContext): ToolContext {
  const { call: callOther } = context;
  return {
    ...context,
    progress: (text: unknown) => {
      if (typeof text === "string") context.progress(text.slice(0, MAX_PROGRESS_LENGTH));
    },
    record: async (body) => context.record(validateEventBody(body)),
    ask: async (question, options) => context.ask(validateQuestion(question), validateAskOptions(options)),
    putBlob: async (bytes) => {
      if (!((bytes as unknown) instanceof Uint8Array)) throw new Error("putBlob expects a Uint8Array");
      return context.putBlob(bytes);
    },
    getBlob: async (hash) => {
      if (typeof (hash as unknown) !== "string") throw new Error("getBlob expects the hash of a blob, a string");
      return context.getBlob(hash);
    },
    ...(callOther !== undefined && {
      call: async (name, input) => {
        if (typeof (name as unknown) !== "string") throw new Error("call expects the name of a tool, a string");
        return callOther(name, input === undefined ? {} : toPlainJson(input, "the input of the call"));
      },
    }),
  };
}

function validateEventBody(body: unknown): EventBody {
  if (!isObject(body)) throw new Error("record expects an event object");
  const plain = toPlainJson(body, "the event") as EventBody;
  const problem = findDraftProblem({ ...plain, at: new Date(0).toISOString(), agent: "" });
  if (problem !== undefined) throw new Error(`record got an invalid event: ${problem}`);
  return plain;
}

const QuestionSchema = z.lazy(() =>
  z.object({
    message: z.string(),
    from: z.string().optional(),
    schema: z.unknown().optional(),
    url: z.string().optional(),
  }),
);

export function validateQuestion(raw: unknown): Question {
  const { data, error } = QuestionSchema.safeParse(raw);
  if (data === undefined) throw new Error(`ask got an invalid question: ${z.prettifyError(error)}`);
  return data.schema === undefined ? data : { ...data, schema: toPlainJson(data.schema, "the schema of the question") };
}

export function validateAskOptions(raw: unknown): AskOptions {
  if (raw === undefined) return {};
  if (!isObject(raw)) throw new Error("the options of ask must be an object");
  const { signal, completed } = raw;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new Error("signal must be an AbortSignal");
  if (completed !== undefined && !(completed instanceof Promise)) throw new Error("completed must be a promise");
  return { signal, completed: completed as Promise<void> | undefined };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
