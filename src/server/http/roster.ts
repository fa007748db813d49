/** A snapshot of all sessions and tasks, from which a reader of the feed continues. */
import {
  listNeededTasks,
  type SessionStatus,
  type SessionSummary,
  type Store,
  type TaskPhase,
  type TaskState,
} from "../../domain/index.ts";

export interface Roster {
  /** Read before the lists, so that no event is missed. The lists may contain some later events already. */
  readonly position: number;
  readonly now: string;
  readonly sessions: readonly SessionSummary[];
  readonly tasks: readonly RosterTask[];
  readonly truncated: boolean;
}

export interface RosterTask extends TaskState {
  /** True if a text in it is cut to `MAX_ROSTER_TEXT` characters. */
  readonly abridged?: true | undefined;
}

/** How many of the newest sessions, and of the newest tasks, are listed. Unfinished ones are listed in addition. */
export const MAX_ROSTER = 1_000;
/** Prompts may have megabytes. */
export const MAX_ROSTER_TEXT = 2_000;
const MAX_ACTIVE = 10_000;

/** Includes copies, because their later events continue them. */
const ACTIVE_SESSIONS: readonly SessionStatus[] = ["running", "waiting", "parked", "copying"];
const ACTIVE_TASKS: readonly TaskPhase[] = ["queued", "preparing", "running", "parked"];

/** Newest first. `limit` is for tests. */
export async function readRoster(store: Store, now: Date, limit = MAX_ROSTER): Promise<Roster> {
  const { head: position } = await store.readFeed({ after: 0, limit: 0 });
  const newest = await store.tasks({ limit: limit + 1 });
  const active = await store.tasks({ phases: ACTIVE_TASKS, limit: MAX_ACTIVE });
  const tasks = new Map([...newest.slice(0, limit), ...active].map((task) => [task.id, task]));
  for (const id of [...tasks.values()].flatMap(listNeededTasks)) {
    if (tasks.has(id)) continue;
    const needed = await store.task(id);
    if (needed !== undefined) tasks.set(id, needed);
  }
  const newestSessions = await store.list({ limit: limit + 1 });
  const sessions = new Map(newestSessions.slice(0, limit).map((session) => [session.id, session]));
  for (const status of ACTIVE_SESSIONS) {
    for (const session of await store.list({ status, limit: MAX_ACTIVE })) sessions.set(session.id, session);
  }
  for (const { id } of [...tasks.values()].flatMap((task) => task.sessions)) {
    if (sessions.has(id)) continue;
    const session = await store.summary(id);
    if (session !== undefined) sessions.set(id, session);
  }
  return {
    position,
    now: now.toISOString(),
    sessions: [...sessions.values()].sort(bySessionAge),
    tasks: [...tasks.values()].sort(byTaskAge).map(abridge),
    truncated: leavesOut(newest, tasks, limit) || leavesOut(newestSessions, sessions, limit),
  };
}

/** IDs of sessions sort by creation time. */
function bySessionAge(one: SessionSummary, other: SessionSummary): number {
  return one.id < other.id ? 1 : -1;
}

/** The sort is stable, and the store lists tasks of the same time newest first. */
function byTaskAge(one: TaskState, other: TaskState): number {
  if (one.createdAt === other.createdAt) return 0;
  return one.createdAt < other.createdAt ? 1 : -1;
}

function leavesOut(
  found: readonly { readonly id: string }[],
  listed: ReadonlyMap<string, unknown>,
  limit: number,
): boolean {
  const next = found[limit];
  return next !== undefined && !listed.has(next.id);
}

function abridge(task: TaskState): RosterTask {
  let abridged = false;
  const cut = (text: string): string => {
    if (text.length <= MAX_ROSTER_TEXT) return text;
    abridged = true;
    return `${text.slice(0, MAX_ROSTER_TEXT - 1).toWellFormed()}…`;
  };
  const cutFields = <Item extends object>(item: Item, keys: readonly (keyof Item)[]): Item => {
    const changes = keys.flatMap((key) => (typeof item[key] === "string" ? [[key, cut(item[key])] as const] : []));
    return { ...item, ...Object.fromEntries(changes) };
  };
  const stages = task.spec.stages.map((stage) => (stage.kind === "agent" ? cutFields(stage, ["prompt"]) : stage));
  const short = cutFields({ ...task, spec: { ...cutFields(task.spec, ["prompt"]), stages } }, ABRIDGED);
  return abridged ? { ...short, abridged } : short;
}

const ABRIDGED = ["feedback", "said", "message"] as const;
