/** Schedules the tool calls of one reply, and collects their answers in the order of the calls. */
import type { ModelCall, ToolAnswer } from "../providers/index.ts";

/** A call with the decision whether it may run concurrently with others. */
export interface PlannedCall extends ModelCall {
  readonly concurrent?: boolean | undefined;
}

export interface ReplyCallsState {
  readonly requested: readonly PlannedCall[];
  /** Number of calls that have started, counted from the first. */
  readonly started: number;
  readonly answers: ReadonlyMap<string, ToolAnswer>;
}

/** Maximum number of concurrent calls of one reply. A reply may contain hundreds. */
export const MAX_CONCURRENT_CALLS = 8;

export function emptyReplyCalls(): ReplyCallsState {
  return { requested: [], started: 0, answers: new Map() };
}

/**
 * Starts calls in the order of the reply. A call that is not concurrent runs alone: after every call before it has
 * ended and before any later one starts, because a model that asks for a change and then for its verification expects
 * this order.
 */
export function startReadyCalls(state: ReplyCallsState): {
  readonly calls: ReplyCallsState;
  readonly started: readonly ModelCall[];
} {
  const { requested, answers } = state;
  const running = requested.slice(0, state.started).filter(({ toolId }) => !answers.has(toolId));
  const started: PlannedCall[] = [];
  for (const call of requested.slice(state.started)) {
    const others = [...running, ...started];
    const fits =
      others.length === 0 || (isConcurrent(call) && others.every(isConcurrent) && others.length < MAX_CONCURRENT_CALLS);
    if (!fits) break;
    started.push(call);
  }
  return { calls: { ...state, started: state.started + started.length }, started };
}

export function recordAnswer(state: ReplyCallsState, answer: ToolAnswer): ReplyCallsState {
  return { ...state, answers: new Map(state.answers).set(answer.toolId, answer) };
}

/** Returns undefined until every call has an answer. */
export function getAnswersInOrder({ requested, answers }: ReplyCallsState): readonly ToolAnswer[] | undefined {
  const inOrder = requested.flatMap(({ toolId }) => answers.get(toolId) ?? []);
  return inOrder.length === requested.length ? inOrder : undefined;
}

function isConcurrent({ concurrent }: PlannedCall): boolean {
  return concurrent === true;
}
