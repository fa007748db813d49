/** What to type to go on with a session that no process drives. */
import type { SessionState } from "../../domain/state.ts";

/** Only the built-in agent goes on in the middle of a turn: the turn of a program ends with the process that ran it. */
export function canContinueTurn({ backend, turn, queue }: Pick<SessionState, "backend" | "turn" | "queue">): boolean {
  return backend === "api" || turn?.parkedUntil !== undefined || (turn === undefined && queue.length > 0);
}

export function resumeSessionCommand(state: Pick<SessionState, "id" | "backend" | "turn" | "queue">): string {
  return `rookery run${canContinueTurn(state) ? "" : ' "…"'} --session ${state.id}`;
}
