/**
 * A turn of the built-in agent as a pure state machine: state and event in, state and effects out. No clock, no I/O.
 */
import type { InputPart, TurnOutcome } from "../domain/index.ts";
import type { CompletionMessage, ModelCall, ModelReply, ToolAnswer } from "../providers/index.ts";
import { createSummaryMessage, isContextNearlyFull } from "./context-size.ts";
import {
  getAnswersInOrder,
  emptyReplyCalls,
  recordAnswer,
  startReadyCalls,
  type ReplyCallsState,
  type PlannedCall,
} from "./reply-calls.ts";
import { hasRetryLeft, computeRetryDelay, type RetryLimits } from "./retry.ts";

export interface TurnState {
  readonly phase: "preparing" | "calling_model" | "waiting" | "compacting" | "running_tools" | "ended";
  /** Number of replies so far. */
  readonly step: number;
  /** Number of model calls in this step. It numbers their journal keys. */
  readonly attempts: number;
  /** Number of failed attempts that were retried. */
  readonly failures: number;
  /** Whether the conversation was summarized since the last reply, or could not be. A second attempt would not help. */
  readonly compacted: boolean;
  /**
   * Whether a summary did not free enough space. Then only a rejected request causes another one; otherwise every step
   * would summarize.
   */
  readonly summaryStayedFull: boolean;
  /** Whether the model rejected the conversation in this step as too long. */
  readonly overflowed: boolean;
  /** How often the text to summarize was halved because it did not fit. */
  readonly halvings: number;
  /** Input that was delivered before the current step. A summary must not absorb input that nobody answered. */
  readonly unansweredInputs: readonly CompletionMessage[];
  /** What to do after a wait. */
  readonly afterWait: "calling_model" | "compacting";
  readonly messages: readonly CompletionMessage[];
  /** Tokens as the model last counted them, and for how many messages. Undefined if unknown. */
  readonly tokenCount: { readonly tokens: number; readonly messages: number } | undefined;
  readonly calls: ReplyCallsState;
  /** The outcome of the turn if no further input arrives. */
  readonly pendingOutcome: TurnOutcome | undefined;
  readonly parameters: TurnParameters;
}

/** Values that stay the same during a turn. */
export interface TurnParameters {
  /** The input of the turn. Summaries keep it unchanged. */
  readonly input: readonly InputPart[];
  /** In tokens. Undefined if unknown. */
  readonly contextSize: number | undefined;
  readonly retry: RetryLimits;
}

export type TurnEvent =
  | {
      readonly type: "step_prepared";
      /** Input that arrived since the last step. */
      readonly inputs: readonly (readonly InputPart[])[];
      /** The outcome if the turn must stop here. */
      readonly stop?: TurnOutcome | undefined;
      /** What the step started with before a crash. It starts with the same again, regardless of the context size. */
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
  | { readonly type: "waited" }
  | { readonly type: "compacted"; readonly summary: string }
  | { readonly type: "tool_settled"; readonly answer: ToolAnswer }
  | { readonly type: "cancelled" };

export type TurnEffect =
  /** If `final`, the step takes place only if input arrived. */
  | { readonly type: "prepare_step"; readonly step: number; readonly final: boolean }
  | {
      readonly type: "call_model";
      readonly step: number;
      readonly id: string;
      readonly messages: readonly CompletionMessage[];
    }
  | {
      readonly type: "compact";
      readonly step: number;
      readonly id: string;
      readonly messages: readonly CompletionMessage[];
      /** How often the text to summarize is halved. */
      readonly halvings: number;
    }
  | {
      readonly type: "wait";
      readonly step: number;
      readonly id: string;
      readonly ms: number;
      /** The reason for the wait, and the number of the next retry out of `of`. */
      readonly message: string;
      readonly next: number;
      readonly of: number;
    }
  | { readonly type: "run_tool"; readonly step: number; readonly call: ModelCall }
  | { readonly type: "end"; readonly outcome: TurnOutcome };

export interface TurnTransition {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/** Maximum number of steps in one turn. Stops a model that never stops calling tools. */
export const MAX_STEPS = 200;

/** Starts a turn. The last of the `messages` must be the input of the turn. */
export function startTurnMachine(
  messages: readonly CompletionMessage[],
  parameters: TurnParameters,
  tokenCount?: TurnState["tokenCount"],
): TurnTransition {
  const firstStep = { ...NEW_STEP, calls: emptyReplyCalls(), pendingOutcome: undefined, summaryStayedFull: false };
  return prepareNextStep({ phase: "preparing", step: 0, messages, tokenCount, parameters, ...firstStep });
}

const NEW_STEP = {
  attempts: 0,
  failures: 0,
  compacted: false,
  overflowed: false,
  halvings: 0,
  unansweredInputs: [],
  afterWait: "calling_model" as const,
};

/** After this many halvings even the start and the end do not fit. */
const MAX_HALVINGS = 5;

export function advanceTurn(state: TurnState, event: TurnEvent): TurnTransition {
  if (state.phase === "ended") return { state, effects: [] };
  switch (event.type) {
    case "cancelled":
      return endTurnWith(state, { status: "cancelled" });
    case "step_prepared":
      return startStep(state, event);
    case "model_replied":
      return handleReply(state, event.reply);
    case "model_failed":
      return handleModelFailure(state, event);
    case "waited":
      return state.afterWait === "calling_model" ? callModelNext(state) : compactNext(state);
    case "compacted": {
      const messages = [createSummaryMessage(event.summary, state.parameters.input), ...state.unansweredInputs];
      return callModelNext({ ...state, messages, tokenCount: undefined, compacted: true });
    }
    case "tool_settled": {
      const calls = recordAnswer(state.calls, event.answer);
      const answers = getAnswersInOrder(calls);
      if (answers === undefined) return runReadyCalls({ ...state, calls });
      const messages: readonly CompletionMessage[] = [...state.messages, { role: "tool", results: answers }];
      return prepareNextStep({ ...state, step: state.step + 1, messages, calls: emptyReplyCalls() });
    }
  }
}

/** Further input is delivered, and budgets are checked, between two steps. */
function prepareNextStep(state: TurnState): TurnTransition {
  const { step, pendingOutcome } = state;
  const effects = [{ type: "prepare_step" as const, step, final: pendingOutcome !== undefined }];
  return { state: { ...state, phase: "preparing" }, effects };
}

function startStep(state: TurnState, event: Extract<TurnEvent, { type: "step_prepared" }>): TurnTransition {
  const { inputs, stop, begun } = event;
  if (state.pendingOutcome !== undefined && inputs.length === 0) return endTurnWith(state, state.pendingOutcome);
  if (stop !== undefined) return endTurnWith(state, stop);
  const unansweredInputs = inputs.map((parts): CompletionMessage => ({ role: "user", parts }));
  const next = {
    ...state,
    messages: [...state.messages, ...unansweredInputs],
    unansweredInputs,
    pendingOutcome: undefined,
  };
  if (next.step >= MAX_STEPS) {
    const message = `the model called tools in ${MAX_STEPS} steps of one turn and was stopped; tell it how to continue`;
    return endTurnWith(next, { status: "failed", code: "step_limit", message });
  }
  const needsSummary = begun === undefined ? shouldSummarize(next) : begun === "summary";
  return needsSummary ? compactNext(next) : callModelNext(next);
}

function handleReply(state: TurnState, reply: Extract<TurnEvent, { type: "model_replied" }>["reply"]): TurnTransition {
  const { text, calls, native, stopReason, usage } = reply;
  const isEmpty = text.trim() === "" && calls.length === 0; // no provider accepts an empty message
  const messages: readonly CompletionMessage[] = isEmpty
    ? state.messages
    : [...state.messages, { role: "assistant", text, calls, native }];
  const tokenCount = { tokens: usage.inputTokens + usage.outputTokens, messages: messages.length };
  const summaryStayedFull =
    state.summaryStayedFull || (state.compacted && shouldSummarize({ ...state, messages, tokenCount }));
  const next = { ...state, ...NEW_STEP, messages, tokenCount, summaryStayedFull };
  const failure = outcomeForStopReason(stopReason);
  if (failure !== undefined) return endTurnWith(next, failure);
  if (calls.length > 0) return runReadyCalls({ ...next, calls: { ...emptyReplyCalls(), requested: calls } });
  return prepareNextStep({ ...next, step: state.step + 1, pendingOutcome: { status: "done", stopReason } });
}

/**
 * Returns the failure for an incomplete reply. None of its calls runs: the last one may be cut off, and the model meant
 * the others to run together with it.
 */
function outcomeForStopReason(stopReason: string): TurnOutcome | undefined {
  switch (stopReason) {
    case "length": {
      const message =
        "the model's reply was cut off because the reply or the conversation is too long; ask for less at once";
      return { status: "failed", code: "reply_truncated", message };
    }
    case "content-filter": {
      const message = "the model or its provider refused to answer; rephrase the request or choose another model";
      return { status: "failed", code: "reply_refused", message };
    }
    default:
      return undefined;
  }
}

function handleModelFailure(state: TurnState, event: Extract<TurnEvent, { type: "model_failed" }>): TurnTransition {
  const { code, message, retry } = event;
  const { parameters, failures } = state;
  const afterWait = state.phase === "compacting" ? ("compacting" as const) : ("calling_model" as const);
  const attempted = { ...state, attempts: state.attempts + 1 };
  if (code === "context_overflow" && afterWait === "calling_model" && !state.compacted) {
    return compactNext({ ...attempted, overflowed: true });
  }
  if (code === "context_overflow" && afterWait === "compacting" && state.halvings < MAX_HALVINGS) {
    return compactNext({ ...attempted, halvings: state.halvings + 1 });
  }
  if (retry !== undefined && hasRetryLeft(failures, parameters.retry)) {
    const ms = computeRetryDelay(failures, retry.afterMs, parameters.retry);
    const next = failures + 1;
    const id = `try.${attempted.attempts}`;
    const effects = [{ type: "wait" as const, step: state.step, id, ms, message, next, of: parameters.retry.retries }];
    return { state: { ...attempted, phase: "waiting", afterWait, failures: next }, effects };
  }
  if (afterWait === "calling_model") return endTurnWith(state, { status: "failed", code, message });
  if (!state.overflowed) return callModelNext({ ...attempted, compacted: true }); // the conversation may still fit
  const tooLong = `the conversation is too long for the model and could not be summarized: ${message}`;
  return endTurnWith(state, { status: "failed", code: "context_overflow", message: tooLong });
}

function callModelNext(state: TurnState): TurnTransition {
  const { step, attempts, messages } = state;
  const id = attempts === 0 ? "reply" : `reply.${attempts}`;
  return { state: { ...state, phase: "calling_model" }, effects: [{ type: "call_model", step, id, messages }] };
}

function compactNext(state: TurnState): TurnTransition {
  const { step, attempts, messages, halvings } = state;
  const id = attempts === 0 ? "summary" : `summary.${attempts}`;
  return { state: { ...state, phase: "compacting" }, effects: [{ type: "compact", step, id, messages, halvings }] };
}

function shouldSummarize({ messages, tokenCount, parameters, summaryStayedFull }: TurnState): boolean {
  return !summaryStayedFull && isContextNearlyFull(messages, tokenCount, parameters.contextSize);
}

function runReadyCalls(state: TurnState): TurnTransition {
  const { calls, started } = startReadyCalls(state.calls);
  const effects = started.map((call) => ({ type: "run_tool" as const, step: state.step, call }));
  return { state: { ...state, phase: "running_tools", calls }, effects };
}

function endTurnWith(state: TurnState, outcome: TurnOutcome): TurnTransition {
  return { state: { ...state, phase: "ended" }, effects: [{ type: "end", outcome }] };
}
