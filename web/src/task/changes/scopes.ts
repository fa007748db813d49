/** The scopes of the changes of a task: its branch against the base, one session, or one turn. */
import type { TaskEvent } from "../../../../src/domain/task/events.ts";
import type { TaskView } from "../../../../src/domain/task/view.ts";

export interface DiffScope {
  /** Identifies it in a list. */
  readonly key: string;
  readonly title: string;
  /** Undefined for the branch. */
  readonly session: string | undefined;
  readonly turn: string | undefined;
}

export const BRANCH_SCOPE: DiffScope = {
  key: "branch",
  title: "Branch against its base",
  session: undefined,
  turn: undefined,
};

/** The branch, then each session with its turns, in the order in which they started. */
export function listScopes(
  { sessions }: Pick<TaskView, "sessions">,
  events: readonly TaskEvent[],
): readonly DiffScope[] {
  const turns = events.flatMap((event) => (event.type === "stage.started" ? [event] : []));
  const ofSessions = sessions.flatMap(({ id, stage }): readonly DiffScope[] => {
    const own = turns.filter((event) => event.sessionId === id && event.turnId !== undefined);
    const whole = { key: id, title: `Session of ${stage}`, session: id, turn: undefined };
    if (own.length < 2) return [whole]; // the only turn has the same changes
    const ofTurns = own.map(({ turnId, name }, index) => ({
      key: `${id} ${turnId ?? ""}`,
      title: `Turn ${index + 1} of ${name}`,
      session: id,
      turn: turnId,
    }));
    return [whole, ...ofTurns];
  });
  return [BRANCH_SCOPE, ...ofSessions];
}
