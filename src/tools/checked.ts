/** Checks what a source of tools gives back or hands to its context: it may be plain JavaScript, or a server's data. */
import { z } from "zod";
import {
  findDraftProblem,
  Location,
  ToolKind,
  type AskOptions,
  type EventBody,
  type Question,
  type ToolContext,
  type ToolDescription,
  type ToolHints,
  type ToolSource,
  type ToolSpec,
} from "../domain/index.ts";
import { plainJson } from "./result.ts";

/** A title stands in the log, in a permission request and on a line of a terminal. */
const MAX_TITLE_LENGTH = 1_000;
const MAX_LOCATIONS = 1_000;
const MAX_PROGRESS_LENGTH = 64 * 1024;

const Locations = z.lazy(() => z.array(Location).max(MAX_LOCATIONS));

/** The description without what is invalid in it; `fallback` stands in for a title that is no text. */
export function checkedDescription(given: unknown, fallback: string): ToolDescription {
  const { title, locations } = (given ?? {}) as { readonly title?: unknown; readonly locations?: unknown };
  const text = typeof title === "string" && title.trim() !== "" ? title : fallback;
  const places = Locations.safeParse(locations).data;
  return { title: text.slice(0, MAX_TITLE_LENGTH).toWellFormed(), ...(places !== undefined && { locations: places }) };
}

/**
 * The spec with every optional field of the right type or left out. An unknown kind is `other`; whatever is not `true`
 * is not read-only, because a read-only tool runs without permission.
 */
export function checkedSpec(given: ToolSpec): Omit<ToolSpec, "inputSchema"> {
  const { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, hints, title, outputSchema, defer } =
    given as { readonly [Key in keyof ToolSpec]: unknown };
  return {
    name: name as string,
    description: typeof description === "string" ? description : "",
    kind: ToolKind.safeParse(kind).data ?? "other",
    readOnly: readOnly === true,
    ...flags({ repeatable, concurrent, defer }),
    ...(typeof timeoutMs === "number" && timeoutMs > 0 && { timeoutMs }),
    ...(isObject(hints) && { hints: flags(hints, HINTS) }),
    ...(typeof title === "string" && { title: title.slice(0, MAX_TITLE_LENGTH).toWellFormed() }),
    ...(isObject(outputSchema) && { outputSchema }),
  };
}

const HINTS: readonly string[] = ["readOnly", "destructive", "idempotent", "openWorld"] satisfies (keyof ToolHints)[];

function flags(
  values: Readonly<Record<string, unknown>>,
  known: readonly string[] = Object.keys(values),
): Record<string, boolean> {
  return Object.fromEntries(
    known.flatMap((key) => (typeof values[key] === "boolean" ? [[key, values[key]] as const] : [])),
  );
}

/** What the source lists. Throws if that is no array. */
export function checkedList(source: ToolSource): readonly ToolSpec[] {
  const list: unknown = source.list();
  if (!Array.isArray(list)) throw new Error("its list is not an array");
  return list as readonly ToolSpec[];
}

/**
 * The context with its methods checking their arguments: one wrong event in the log, and nobody could write to the
 * session any more. What is invalid is refused to the tool, which fails; progress that is no text is left out.
 */
export function checkedContext(context: ToolContext): ToolContext {
  const { call: callOther } = context;
  return {
    ...context,
    progress: (text: unknown) => {
      if (typeof text === "string") context.progress(text.slice(0, MAX_PROGRESS_LENGTH));
    },
    record: async (body) => context.record(checkedBody(body)),
    ask: async (question, options) => context.ask(checkedQuestion(question), checkedAskOptions(options)),
    putBlob: async (bytes) => {
      if (!((bytes as unknown) instanceof Uint8Array)) throw new Error("putBlob takes a Uint8Array");
      return context.putBlob(bytes);
    },
    getBlob: async (hash) => {
      if (typeof (hash as unknown) !== "string") throw new Error("getBlob takes the hash of a blob, a string");
      return context.getBlob(hash);
    },
    ...(callOther !== undefined && {
      call: async (name, input) => {
        if (typeof (name as unknown) !== "string") throw new Error("call takes the name of a tool, a string");
        return callOther(name, input === undefined ? {} : plainJson(input, "the input of the call"));
      },
    }),
  };
}

function checkedBody(body: unknown): EventBody {
  if (!isObject(body)) throw new Error("record takes an event");
  const plain = plainJson(body, "the event") as EventBody;
  const problem = findDraftProblem({ ...plain, at: new Date(0).toISOString(), agent: "" });
  if (problem !== undefined) throw new Error(`record takes an event: ${problem}`);
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

function checkedQuestion(given: unknown): Question {
  const { data, error } = QuestionSchema.safeParse(given);
  if (data === undefined) throw new Error(`ask takes a question: ${z.prettifyError(error)}`);
  return data.schema === undefined ? data : { ...data, schema: plainJson(data.schema, "the schema of the question") };
}

function checkedAskOptions(given: unknown): AskOptions {
  if (given === undefined) return {};
  if (!isObject(given)) throw new Error("the options of ask are an object");
  const { signal, completed } = given;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new Error("signal is an AbortSignal");
  if (completed !== undefined && !(completed instanceof Promise)) throw new Error("completed is a promise");
  return { signal, completed: completed as Promise<void> | undefined };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
