/** For tests: the state of a cockpit with some tasks. */
import type { TaskView } from "../../../domain/task/view.ts";
import type { ListedTask } from "../interrupted.ts";
import { taskView } from "../test-service.ts";
import { type CockpitState, EMPTY_COCKPIT, withTasks } from "./state.ts";

export const READ_AT = Date.parse("2026-01-01T10:00:00.000Z");

export function listedTask(view: Partial<TaskView> & { id: string; interrupted?: boolean }): ListedTask {
  return { interrupted: false, ...taskView(view) };
}

export function cockpitWith(...views: Parameters<typeof listedTask>[0][]): CockpitState {
  return withTasks(EMPTY_COCKPIT, views.map(listedTask), READ_AT);
}
