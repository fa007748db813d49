/** The turn of the built-in agent as a pure machine: state and event in, state and effects out; no clock, no I/O. */
import type { InputPart, TurnOutcome } from "../domain/index.ts";
import type { Message, ModelCall, ModelReply, ToolAnswer } from "../providers/index.ts";
import { afterSummary, isNearlyFull } from "./context.ts";
import { answersInOrder, noCalls, settleCall, startable, type CallsState, type PlannedCall } from "./calls.ts";
import { isWorthRetrying, restOf, type RetryLimits } from "./retry.ts";

export interface TurnState {
  readonly phase: "preparing" | "thinking" | "resting" | "compacting" | "acting" | "ended";
  /** Counts the model's replies. */
  readonly step: number;
  /** Of this step's model call: each has a name of its own in the journal. */
  readonly tries: number;
  /** Those of them that another try was to mend. */
  readonly failures: number;
  /** The conversation was summarized since the last reply, or could not be: doing it again would not help. */
  readonly compacted: boolean;
  /** A summary left it as full as before: only a refusal is a reason for another, or there would be one in each step. */
  readonly staysFull: boolean;
  /** Of the present step: the model refused the conversation as too long. */
  readonly overflowed: boolean;
  /** How often less of the conversation was given to be summarized, since what was given did not fit. */
  readonly shrunk: number;
  /** Said to the agent before the present step: a summary must not swallow what nobody has answered. */
  readonly heard: readonly Message[];
  /** What a rest interrupted. */
  readonly resuming: "thinking" | "compacting";
  readonly messages: readonly Message[];
  /** Tokens of the conversation as the model last counted them, and how many of the messages that was; undefined where it is not known. */
  readonly counted: { readonly tokens: number; readonly messages: number } | undefined;
  readonly calls: CallsState;
  /** How the turn ends, unless there is more to do. */
  readonly ending: TurnOutcome | undefined;
  readonly terms: TurnTerms;
}

/** What does not change within a turn. */
export interface TurnTerms {
  /** What the turn was asked; it outlasts a summary. */
  readonly input: readonly InputPart[];
  /** In tokens. */
  readonly contextSize: number | undefined;
  readonly retry: RetryLimits;
}

export type TurnEvent =
  | {
      readonly type: "step_prepared";
      /** Said to the agent meanwhile. */
      readonly inputs: readonly (readonly InputPart[])[];
      /** Where it may not go on. */
      readonly stop?: TurnOutcome | undefined;
      /** With what the step began before a crash: it begins so again, however large the context is now. */
      readonly begun?: "reply" | "summary" | undefined;
    }
  | {
      readonly type: "model_replied";
      readonly reply: Omit<ModelReply, "calls"> & { readonly calls: readonly PlannedCall[] };
    }
  | {
      readonly type: "model_failed";
      readonly code: string;
      readonly message: string;
      readonly retry?: { readonly afterMs?: number | undefined } | undefined;
    }
  | { readonly type: "rested" }
  | { readonly type: "compacted"; readonly summary: string }
  | { readonly type: "tool_settled"; readonly answer: ToolAnswer }
  | { readonly type: "cancelled" };

export type TurnEffect =
  /** `final`: there is no such step unless something was said meanwhile. */
  | { readonly type: "prepare_step"; readonly step: number; readonly final: boolean }
  | { readonly type: "call_model"; readonly step: number; readonly id: string; readonly messages: readonly Message[] }
  | {
      readonly type: "compact";
      readonly step: number;
      readonly id: string;
      readonly messages: readonly Message[];
      /** Half as much is to be given for each. */
      readonly shrunk: number;
    }
  | {
      readonly type: "rest";
      readonly step: number;
      readonly id: string;
      readonly ms: number;
      /** Why, and the how manieth of how many further tries comes then. */
      readonly message: string;
      readonly next: number;
      readonly of: number;
    }
  | { readonly type: "run_tool"; readonly step: number; readonly call: ModelCall }
  | { readonly type: "end"; readonly outcome: TurnOutcome };

export interface Transition {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/** A model that asks for tools for ever is stopped here. */
export const STEP_LIMIT = 200;

/** `messages` ends with the input of the turn. */
export function begin(messages: readonly Message[], terms: TurnTerms, counted?: TurnState["counted"]): Transition {
  const ofStep = { ...UNTRIED, calls: noCalls(), ending: undefined, staysFull: false };
  return prepare({ phase: "preparing", step: 0, messages, counted, terms, ...ofStep });
}

const UNTRIED = {
  tries: 0,
  failures: 0,
  compacted: false,
  overflowed: false,
  shrunk: 0,
  heard: [],
  resuming: "thinking" as const,
};

/** Past this even the beginning and the end do not fit. */
const MOST_SHRUNK = 5;

export function advance(state: TurnState, event: TurnEvent): Transition {
  if (state.phase === "ended") return { state, effects: [] };
  switch (event.type) {
    case "cancelled":
      return end(state, { status: "cancelled" });
    case "step_prepared":
      return prepared(state, event);
    case "model_replied":
      return replied(state, event.reply);
    case "model_failed":
      return failed(state, event);
    case "rested":
      return state.resuming === "thinking" ? think(state) : compact(state);
    case "compacted": {
      const messages = [afterSummary(event.summary, state.terms.input), ...state.heard];
      return think({ ...state, messages, counted: undefined, compacted: true });
    }
    case "tool_settled": {
      const calls = settleCall(state.calls, event.answer);
      const answers = answersInOrder(calls);
      if (answers === undefined) return act({ ...state, calls });
      const messages: readonly Message[] = [...state.messages, { role: "tool", results: answers }];
      return prepare({ ...state, step: state.step + 1, messages, calls: noCalls() });
    }
  }
}

/** Between two steps is where further input comes in, and where the turn may be told to stop. */
function prepare(state: TurnState): Transition {
  const { step, ending } = state;
  const effects = [{ type: "prepare_step" as const, step, final: ending !== undefined }];
  return { state: { ...state, phase: "preparing" }, effects };
}

function prepared(state: TurnState, event: Extract<TurnEvent, { type: "step_prepared" }>): Transition {
  const { inputs, stop, begun } = event;
  if (state.ending !== undefined && inputs.length === 0) return end(state, state.ending);
  if (stop !== undefined) return end(state, stop);
  const heard = inputs.map((parts): Message => ({ role: "user", parts }));
  const next = { ...state, messages: [...state.messages, ...heard], heard, ending: undefined };
  if (next.step >= STEP_LIMIT) {
    const message = `the model asked for tools ${STEP_LIMIT} times in one turn; say how to go on`;
    return end(next, { status: "failed", code: "step_limit", message });
  }
  const isSummarized = begun === undefined ? isFull(next) : begun === "summary";
  return isSummarized ? compact(next) : think(next);
}

function replied(state: TurnState, reply: Extract<TurnEvent, { type: "model_replied" }>["reply"]): Transition {
  const { text, calls, native, stopReason, usage } = reply;
  const isEmpty = text.trim() === "" && calls.length === 0; // no provider takes an empty message back
  const messages: readonly Message[] = isEmpty
    ? state.messages
    : [...state.messages, { role: "assistant", text, calls, native }];
  const counted = { tokens: usage.inputTokens + usage.outputTokens, messages: messages.length };
  const staysFull = state.staysFull || (state.compacted && isFull({ ...state, messages, counted }));
  const next = { ...state, ...UNTRIED, messages, counted, staysFull };
  const unfinished = unfinishedBy(stopReason);
  if (unfinished !== undefined) return end(next, unfinished);
  if (calls.length > 0) return act({ ...next, calls: { ...noCalls(), asked: calls } });
  return prepare({ ...next, step: state.step + 1, ending: { status: "done", stopReason } });
}

/** The last call of such a reply may be cut as well, and its first ones were meant together with it: none is run. */
function unfinishedBy(stopReason: string): TurnOutcome | undefined {
  switch (stopReason) {
    case "length": {
      const message = "the model's answer was cut off: it or the conversation is too long; ask for less at once";
      return { status: "failed", code: "reply_truncated", message };
    }
    case "content-filter": {
      const message = "the model or its provider refused to answer: ask in other words, or choose another model";
      return { status: "failed", code: "reply_refused", message };
    }
    default:
      return undefined;
  }
}

function failed(state: TurnState, event: Extract<TurnEvent, { type: "model_failed" }>): Transition {
  const { code, message, retry } = event;
  const { terms, failures } = state;
  const resuming = state.phase === "compacting" ? ("compacting" as const) : ("thinking" as const);
  const tried = { ...state, tries: state.tries + 1 };
  if (code === "context_overflow" && resuming === "thinking" && !state.compacted) {
    return compact({ ...tried, overflowed: true });
  }
  if (code === "context_overflow" && resuming === "compacting" && state.shrunk < MOST_SHRUNK) {
    return compact({ ...tried, shrunk: state.shrunk + 1 });
  }
  if (retry !== undefined && isWorthRetrying(failures, terms.retry)) {
    const ms = restOf(failures, retry.afterMs, terms.retry);
    const next = failures + 1;
    const id = `try.${tried.tries}`;
    const effects = [{ type: "rest" as const, step: state.step, id, ms, message, next, of: terms.retry.tries }];
    return { state: { ...tried, phase: "resting", resuming, failures: next }, effects };
  }
  if (resuming === "thinking") return end(state, { status: "failed", code, message });
  if (!state.overflowed) return think({ ...tried, compacted: true }); // there may be room enough as it is
  const full = `the conversation is too long for the model, and could not be summarized: ${message}`;
  return end(state, { status: "failed", code: "context_overflow", message: full });
}

function think(state: TurnState): Transition {
  const { step, tries, messages } = state;
  const id = tries === 0 ? "reply" : `reply.${tries}`;
  return { state: { ...state, phase: "thinking" }, effects: [{ type: "call_model", step, id, messages }] };
}

function compact(state: TurnState): Transition {
  const { step, tries, messages, shrunk } = state;
  const id = tries === 0 ? "summary" : `summary.${tries}`;
  return { state: { ...state, phase: "compacting" }, effects: [{ type: "compact", step, id, messages, shrunk }] };
}

function isFull({ messages, counted, terms, staysFull }: TurnState): boolean {
  return !staysFull && isNearlyFull(messages, counted, terms.contextSize);
}

function act(state: TurnState): Transition {
  const { calls, begun } = startable(state.calls);
  const effects = begun.map((call) => ({ type: "run_tool" as const, step: state.step, call }));
  return { state: { ...state, phase: "acting", calls }, effects };
}

function end(state: TurnState, outcome: TurnOutcome): Transition {
  return { state: { ...state, phase: "ended" }, effects: [{ type: "end", outcome }] };
}
