/** The command that continues a session which no process drives. */
import type { SessionState } from "../../domain/state.ts";
import { shortId } from "../../domain/ids.ts";

/** Only the built-in agent can continue a turn. The turn of a program ends with its process. */
export function canContinueTurn({ backend, turn, queue }: Pick<SessionState, "backend" | "turn" | "queue">): boolean {
  return backend === "api" || turn?.parkedUntil !== undefined || (turn === undefined && queue.length > 0);
}

export function resumeSessionCommand(state: Pick<SessionState, "id" | "backend" | "turn" | "queue">): string {
  return `rookery run${canContinueTurn(state) ? "" : ' "…"'} --session ${shortId(state.id)}`;
}
