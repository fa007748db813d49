/** The tool calls of one reply: which may begin now, and what came of them, in the order asked. */
import type { ModelCall, ToolAnswer } from "../providers/index.ts";

/** A call of which is known whether it may run beside others. */
export interface PlannedCall extends ModelCall {
  readonly concurrent?: boolean | undefined;
}

export interface CallsState {
  readonly asked: readonly PlannedCall[];
  /** So many of them, from the first on, have begun. */
  readonly begun: number;
  readonly answers: ReadonlyMap<string, ToolAnswer>;
}

/** At once; a reply may ask for hundreds. */
export const MOST_AT_ONCE = 8;

export function noCalls(): CallsState {
  return { asked: [], begun: 0, answers: new Map() };
}

/**
 * In the order asked. What changes something runs alone, after all before it and before all behind it: a model that asks
 * for a change and then for its proof means one after the other.
 */
export function startable(state: CallsState): { readonly calls: CallsState; readonly begun: readonly ModelCall[] } {
  const { asked, answers } = state;
  const running = asked.slice(0, state.begun).filter(({ toolId }) => !answers.has(toolId));
  const begun: PlannedCall[] = [];
  for (const call of asked.slice(state.begun)) {
    const beside = [...running, ...begun];
    const fits = beside.length === 0 || (isShared(call) && beside.every(isShared) && beside.length < MOST_AT_ONCE);
    if (!fits) break;
    begun.push(call);
  }
  return { calls: { ...state, begun: state.begun + begun.length }, begun };
}

export function settleCall(state: CallsState, answer: ToolAnswer): CallsState {
  return { ...state, answers: new Map(state.answers).set(answer.toolId, answer) };
}

/** Undefined until all are there. */
export function answersInOrder({ asked, answers }: CallsState): readonly ToolAnswer[] | undefined {
  const inOrder = asked.flatMap(({ toolId }) => answers.get(toolId) ?? []);
  return inOrder.length === asked.length ? inOrder : undefined;
}

function isShared({ concurrent }: PlannedCall): boolean {
  return concurrent === true;
}
