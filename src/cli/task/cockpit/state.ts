/** The state of the cockpit: the tasks, which one is selected or open, and what the keys do. Pure. */
import type { FormInput } from "../../questions/form-input.ts";
import type { Color } from "../../paint.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ListedTask } from "../interrupted.ts";
import type { TaskRequest } from "../requests.ts";
import { groupOfTask, sortByGroup } from "../task-group.ts";
import type { AskedSubjects } from "./asked-subjects.ts";
import type { CockpitCommand } from "./commands.ts";
import type { TaskDecideMode, TaskReasonMode } from "./request-mode.ts";

export type CockpitMode =
  | { readonly type: "browse" }
  | { readonly type: "filter" }
  | { readonly type: "help" }
  /** Lines that fit the screen, such as a short diff. Any key closes them. */
  | { readonly type: "lines"; readonly title: string; readonly lines: readonly string[] }
  /** `lines`: what the person decides on. */
  | {
      readonly type: "confirm";
      readonly lines: readonly string[];
      readonly question: string;
      readonly accept: CockpitCommand;
      readonly refuse?: CockpitCommand;
    }
  | { readonly type: "input"; readonly label: string; readonly purpose: InputPurpose }
  | TaskDecideMode
  | TaskReasonMode
  | { readonly type: "form"; readonly request: TaskRequest; readonly form: FormInput };

export type InputPurpose =
  { readonly type: "start" } | { readonly type: "resume"; readonly id: string; readonly isPromptRequired: boolean };

export interface CockpitNotice {
  readonly text: string;
  readonly color: Color;
  /** The notice says that this task is queued: it is removed when the task is no longer queued. */
  readonly queuedId?: string | undefined;
}

export interface CockpitState {
  /** In the order in which they are shown. */
  readonly tasks: readonly ListedTask[];
  /** When the tasks were read, in milliseconds since the epoch. Undefined before the first time. */
  readonly readAt: number | undefined;
  readonly selectedId: string | undefined;
  /** A new task, which is selected when it is in the list. */
  readonly newId: string | undefined;
  readonly filter: string;
  /** The task whose transcript is open. */
  readonly openId: string | undefined;
  readonly mode: CockpitMode;
  readonly notice: CockpitNotice | undefined;
  /** URL of the server. Undefined for the log of this machine. */
  readonly server: string | undefined;
  /** Why the tasks cannot be read. Undefined while connected. */
  readonly disconnected: string | undefined;
  /** Tasks that this process runs. */
  readonly localRuns: ReadonlySet<string>;
  readonly askedSubjects: AskedSubjects;
  /** Number of changed files by task id. */
  readonly changedFiles: ReadonlyMap<string, number>;
}

export const BROWSE_MODE: CockpitMode = { type: "browse" };

export const EMPTY_COCKPIT: CockpitState = {
  tasks: [],
  readAt: undefined,
  selectedId: undefined,
  newId: undefined,
  filter: "",
  openId: undefined,
  mode: BROWSE_MODE,
  notice: undefined,
  server: undefined,
  disconnected: undefined,
  localRuns: new Set(),
  askedSubjects: new Map(),
  changedFiles: new Map(),
};

/** Replaces the tasks and keeps the selection. */
export function withTasks(state: CockpitState, tasks: readonly ListedTask[], readAt: number): CockpitState {
  const sorted = sortByGroup(tasks);
  const queued = sorted.find(({ id }) => id === state.notice?.queuedId);
  const isOutdated = queued !== undefined && groupOfTask(queued) !== "queued";
  const notice = isOutdated ? undefined : state.notice;
  const next = { ...state, tasks: sorted, readAt, disconnected: undefined, notice };
  const isListed = visibleTasks(next).some(({ id }) => id === state.newId);
  return keepSelection(state, isListed ? { ...next, selectedId: state.newId, newId: undefined } : next);
}

/** Selects the task at the same place if the selected one is no longer visible. */
export function keepSelection(before: CockpitState, state: CockpitState): CockpitState {
  const visible = visibleTasks(state);
  if (visible.some(({ id }) => id === state.selectedId)) return state;
  const place = Math.max(
    0,
    visibleTasks(before).findIndex(({ id }) => id === before.selectedId),
  );
  return { ...state, selectedId: visible[Math.min(place, visible.length - 1)]?.id };
}

/** The tasks that match the filter. */
export function visibleTasks({ tasks, filter }: CockpitState): readonly ListedTask[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return tasks;
  return tasks.filter((task) => {
    const text = toSingleLine(`${task.id} ${task.title} ${task.agent} ${groupOfTask(task)}`).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The task that a key is about: the open one, or the selected one. */
export function targetTask({ tasks, openId, selectedId }: CockpitState): ListedTask | undefined {
  return tasks.find(({ id }) => id === (openId ?? selectedId));
}
