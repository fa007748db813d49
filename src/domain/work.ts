/** How much the agents of a session have worked. A part of the session's state, for budgets. */
import type { SessionEvent } from "./events.ts";

export interface Work {
  /** The number of complete messages. */
  readonly steps: number;
  /** Running time without waits for a person or a usage limit. */
  readonly ranMs: number;
}

export interface WorkState {
  readonly byAgent: Readonly<Record<string, Work>>;
  /** Since when an agent works, in ISO 8601. This time is not in `byAgent` yet. */
  readonly since: string | undefined;
}

export const NO_WORK: WorkState = { byAgent: {}, since: undefined };

/** Applies an event. `lastAt` is the time of the previous event. */
export function workAfter(
  work: WorkState,
  event: SessionEvent,
  { works, lastAt }: { readonly works: boolean; readonly lastAt: string },
): WorkState {
  const done = event.type === "message.completed" ? addWork(work, event.agent, { steps: 1, ranMs: 0 }) : work;
  const { since } = done;
  const wasLost = event.type === "notice" && event.code === "turn_resumed"; // no work happened after the process died
  if (since === undefined) return works ? { ...done, since: event.at } : done;
  if (works && !wasLost) return done;
  const ranMs = Math.max(0, Date.parse(wasLost ? lastAt : event.at) - Date.parse(since));
  return { ...addWork(done, event.agent, { steps: 0, ranMs }), since: works ? event.at : undefined };
}

/** Returns the work of one agent, or of all agents. */
export function workOf({ byAgent, since }: WorkState, now: number, agent?: string): Work {
  const all = Object.entries(byAgent).flatMap(([name, work]) => (agent === undefined || name === agent ? [work] : []));
  const running = since === undefined ? 0 : Math.max(0, now - Date.parse(since));
  const sum = (of: keyof Work): number => all.reduce((total, work) => total + work[of], 0);
  return { steps: sum("steps"), ranMs: sum("ranMs") + running };
}

function addWork(work: WorkState, agent: string, { steps, ranMs }: Work): WorkState {
  const before = Object.hasOwn(work.byAgent, agent) ? work.byAgent[agent] : undefined;
  const after = { steps: (before?.steps ?? 0) + steps, ranMs: (before?.ranMs ?? 0) + ranMs };
  return { ...work, byAgent: { ...work.byAgent, [agent]: after } };
}
