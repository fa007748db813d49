/** The turn of the built-in agent as a pure machine: state and event in, state and effects out; no clock, no I/O. */
import type { TurnOutcome } from "../domain/index.ts";
import type { Message, ModelCall, ModelReply, ToolAnswer } from "../providers/index.ts";

export interface TurnState {
  readonly phase: "thinking" | "acting" | "ended";
  /** Counts the model's replies. */
  readonly step: number;
  readonly messages: readonly Message[];
  /** What the last reply asked for and is not answered yet, in order. */
  readonly calls: readonly ModelCall[];
  readonly answers: readonly ToolAnswer[];
}

export type TurnEvent =
  | { readonly type: "model_replied"; readonly reply: ModelReply }
  | { readonly type: "model_failed"; readonly code: string; readonly message: string }
  | { readonly type: "tool_settled"; readonly answer: ToolAnswer }
  | { readonly type: "cancelled" };

export type TurnEffect =
  | { readonly type: "call_model"; readonly step: number; readonly messages: readonly Message[] }
  | { readonly type: "run_tool"; readonly step: number; readonly call: ModelCall }
  | { readonly type: "end"; readonly outcome: TurnOutcome };

export interface Transition {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/** A model that asks for tools for ever is stopped here. */
export const STEP_LIMIT = 200;

/** `messages` ends with the input of the turn. */
export function begin(messages: readonly Message[]): Transition {
  return think({ phase: "thinking", step: 0, messages, calls: [], answers: [] });
}

export function advance(state: TurnState, event: TurnEvent): Transition {
  if (state.phase === "ended") return { state, effects: [] };
  switch (event.type) {
    case "cancelled":
      return end(state, { status: "cancelled" });
    case "model_failed":
      return end(state, { status: "failed", code: event.code, message: event.message });
    case "model_replied": {
      const { text, calls, native, stopReason } = event.reply;
      const said: Message = { role: "assistant", text, calls, native };
      const next = { ...state, messages: [...state.messages, said], calls, answers: [] };
      const unfinished = unfinishedBy(stopReason);
      if (unfinished !== undefined) return end(next, unfinished);
      return calls.length === 0 ? end(next, { status: "done", stopReason }) : act(next);
    }
    case "tool_settled": {
      const [, ...calls] = state.calls;
      const next = { ...state, calls, answers: [...state.answers, event.answer] };
      if (calls.length > 0) return act(next);
      const answered: Message = { role: "tool", results: next.answers };
      return think({ ...next, step: state.step + 1, messages: [...state.messages, answered], answers: [] });
    }
  }
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

function think(state: TurnState): Transition {
  const { step, messages } = state;
  if (step >= STEP_LIMIT) {
    const message = `the model asked for tools ${STEP_LIMIT} times in one turn; say how to go on`;
    return end(state, { status: "failed", code: "step_limit", message });
  }
  return { state: { ...state, phase: "thinking" }, effects: [{ type: "call_model", step, messages }] };
}

/** One call at a time, in the order asked. */
function act(state: TurnState): Transition {
  const call = state.calls[0];
  if (call === undefined) return think(state);
  return { state: { ...state, phase: "acting" }, effects: [{ type: "run_tool", step: state.step, call }] };
}

function end(state: TurnState, outcome: TurnOutcome): Transition {
  return { state: { ...state, phase: "ended" }, effects: [{ type: "end", outcome }] };
}
