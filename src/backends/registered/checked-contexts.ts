/** Wraps the contexts that a registered backend gets, so that its arguments are checked before they reach the session. */
import {
  ToolKind,
  RookeryError,
  messageOf,
  type AskOptions,
  type BetweenTurnsContext,
  type Effect,
  type EventBody,
  type Performed,
  type PermissionRequest,
  type TurnContext,
} from "../../domain/index.ts";
import { validateAskOptions, validateQuestion, toPlainJson, validatePreview } from "../../tools/index.ts";
import { readRecordedEvent } from "./recordable-events.ts";

export interface CheckedTurnOptions {
  readonly backend: string;
  readonly sessionId: string;
  readonly missedConversation: NonNullable<TurnContext["missedConversation"]>;
}

/** An invalid argument throws `agent_failed`, and so the turn fails. */
export function checkedTurn(
  turn: TurnContext,
  { backend, sessionId, missedConversation }: CheckedTurnOptions,
): TurnContext {
  const { log, effects, turnId } = turn;
  const read = (bodies: readonly unknown[]) => bodies.map((body) => readRecordedEvent(body, backend));
  return {
    ...turn,
    log: {
      record: (...bodies) => log.record(...read(bodies)),
      ready: () => log.ready(),
      commit: () => log.commit(),
      get head() {
        return log.head;
      },
    },
    effects: {
      isFinished: (key) => effects.isFinished({ ...key, sessionId, turnId }),
      run: async <T>(effect: Effect<T>) => effects.run(checkedEffect(effect, { sessionId, turnId }, read)),
    },
    steering: undefined, // an input that is queued during a turn becomes the next turn
    missedConversation,
    ...checkedRequests(turn, backend),
    blob: async (hash) => turn.blob(readText(hash, "blob expects a hash", backend)),
  };
}

/** Events that cannot be recorded become a notice, because nobody waits for this context. */
export function checkedBetweenTurns(between: BetweenTurnsContext, backend: string): BetweenTurnsContext {
  return {
    ...between,
    record: (...bodies) => {
      for (const body of bodies) between.record(readOrReport(body, backend));
    },
    ...checkedRequests(between, backend),
    getBlob: async (hash) => between.getBlob(readText(hash, "getBlob expects a hash", backend)),
  };
}

function readOrReport(body: unknown, backend: string): EventBody {
  try {
    return readRecordedEvent(body, backend);
  } catch (error) {
    return { type: "notice", level: "warning", code: "agent_output_invalid", message: messageOf(error) };
  }
}

type Requests = Pick<TurnContext, "permit" | "ask" | "putBlob">;

function checkedRequests(context: Requests, backend: string): Requests {
  return {
    permit: async (request, options) => context.permit(readPermission(request, backend), readOptions(options, backend)),
    ask: async (question, options) =>
      context.ask(
        orRefuse(backend, () => validateQuestion(question)),
        readOptions(options, backend),
      ),
    putBlob: async (bytes) => {
      if (!((bytes as unknown) instanceof Uint8Array)) throw refusal(backend, "putBlob expects a Uint8Array");
      return context.putBlob(bytes);
    },
  };
}

function readPermission(request: unknown, backend: string): PermissionRequest {
  const { toolId, tool, title, kind, readOnly, input, from, preview } = (request ?? {}) as {
    readonly [Key in keyof PermissionRequest]: unknown;
  };
  if (typeof toolId !== "string" || typeof tool !== "string") {
    throw refusal(backend, "a permission request needs a toolId and a tool, both strings");
  }
  return {
    toolId,
    tool,
    title: typeof title === "string" && title.trim() !== "" ? title.toWellFormed() : tool,
    kind: ToolKind.safeParse(kind).data ?? "other",
    readOnly: readOnly === true,
    input: orRefuse(backend, () => toPlainJson(input ?? null, "the input of the call")),
    ...(typeof from === "string" && { from }),
    ...(typeof preview === "function" && {
      preview: async () => validatePreview(await (preview as () => unknown)()),
    }),
  };
}

function readOptions(options: unknown, backend: string): AskOptions {
  return orRefuse(backend, () => validateAskOptions(options));
}

/** The effect belongs to this turn, and its events and its outcome can be written. */
function checkedEffect<T>(
  effect: Effect<T>,
  place: { readonly sessionId: string; readonly turnId: string },
  read: (bodies: readonly unknown[]) => EventBody[],
): Effect<T> {
  const check = ({ value, events = [] }: Performed<T>): Performed<T> => ({
    value: effect.parse(toPlainJson(value, "the outcome of the effect")),
    events: read(events),
  });
  const checked = {
    ...effect,
    key: { ...effect.key, ...place },
    started: read(effect.started ?? []),
    perform: async () => check(await effect.perform()),
  };
  return checked.repeatable
    ? checked
    : { ...checked, lost: () => check((effect as Effect<T> & { lost(): Performed<T> }).lost()) };
}

function readText(value: unknown, expected: string, backend: string): string {
  if (typeof value === "string") return value;
  throw refusal(backend, expected);
}

function orRefuse<T>(backend: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusal(backend, messageOf(error), error);
  }
}

function refusal(backend: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError("agent_failed", `the backend ${backend} made an invalid call: ${why}`, { cause });
}
