/** All sessions and tasks: a snapshot of the server, and a fold of the events after it with the server's own code. */
import { createEffect, createMemo, createSignal, on, onCleanup, type Accessor } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { errorOf, type RookeryClient } from "../../../src/client/index.ts";
import type { SessionSummary } from "../../../src/domain/summary.ts";
import type { TaskView } from "../../../src/domain/task/view.ts";
import type { Feed } from "../feed/feed.ts";
import { RosterFold } from "./fold.ts";

export interface RosterModel {
  /** False until the first snapshot has arrived. */
  readonly isLoaded: Accessor<boolean>;
  readonly sessions: Readonly<Record<string, SessionSummary>>;
  readonly tasks: Readonly<Record<string, TaskView>>;
  /** The time of the server, in milliseconds since 1970, because clocks differ. What shows it is updated every 5 seconds. */
  now(): number;
}

interface Rows {
  readonly sessions: Record<string, SessionSummary>;
  readonly tasks: Record<string, TaskView>;
}

/** A deletion leaves no event, so that a page which was disconnected needs a new snapshot. */
interface SnapshotNumber {
  readonly log: number;
  readonly isDisconnected: boolean;
  readonly count: number;
}
const NO_SNAPSHOT: SnapshotNumber = { log: 0, isDisconnected: false, count: 0 };

const RETRY_MS = 1_000;
/** How often ages and running times change on the screen. */
const CLOCK_MS = 5_000;
/** A session that the snapshot did not list, because it is old, is read with the next snapshot. */
const RELOAD_MS = 2_000;

export function openRoster(client: RookeryClient, feed: Feed): RosterModel {
  const [isLoaded, setLoaded] = createSignal(false);
  const [rows, setRows] = createStore<Rows>({ sessions: {}, tasks: {} });
  let fold = new RosterFold();
  let aheadMs = 0;
  let frame: number | undefined;
  let loading = 0;
  const [clock, setClock] = createSignal(Date.now());
  const now = (): number => Math.max(clock(), Date.now()) + aheadMs;

  const show = (): void => {
    frame = undefined;
    const { sessions, tasks } = fold.takeChanges(now());
    for (const [id, session] of sessions)
      setRows("sessions", id, session ? reconcile(copyRow(session)) : (undefined as never));
    for (const [id, task] of tasks) setRows("tasks", id, task ? reconcile(copyRow(task)) : (undefined as never));
  };
  const showSoon = (): void => void (frame ??= requestAnimationFrame(show));

  const load = async (): Promise<void> => {
    const own = (loading += 1);
    const next = new RosterFold();
    next.hold(); // events that arrive before the snapshot are applied to it
    fold = next;
    while (own === loading) {
      const { data, error, response } = await client.GET("/v1/roster").catch((cause: unknown) => ({
        data: undefined,
        error: cause,
        response: { status: 0 },
      }));
      if (own !== loading) return;
      if (data !== undefined) {
        aheadMs = Date.parse(data.now) - Date.now();
        next.start(data.sessions as readonly SessionSummary[], data.tasks);
        for (const id of Object.keys(rows.sessions))
          if (!next.hasSession(id)) setRows("sessions", id, undefined as never);
        for (const id of Object.keys(rows.tasks)) if (!next.hasTask(id)) setRows("tasks", id, undefined as never);
        show();
        setLoaded(true);
        return;
      }
      if (response.status === 401) return; // the feed reports it
      console.warn("the roster could not be read", errorOf(error, response.status).message);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  let reloadTimer: ReturnType<typeof setTimeout> | undefined;
  const reloadSoon = (): void => {
    reloadTimer ??= setTimeout(() => {
      reloadTimer = undefined;
      void load();
    }, RELOAD_MS);
  };
  onCleanup(() => clearTimeout(reloadTimer));
  onCleanup(
    feed.listen((events) => {
      fold.add(events.map(({ event }) => event));
      showSoon();
      if (fold.hasGap) reloadSoon();
    }),
  );
  onCleanup(
    feed.listenToDeletions((sessionId) => {
      fold.removeSession(sessionId);
      showSoon();
    }),
  );
  const timer = setInterval(() => {
    setClock(Date.now());
    fold.markRunningTasks();
    showSoon();
  }, CLOCK_MS);
  onCleanup(() => clearInterval(timer));
  /** Counts the times from which on the snapshot may lack something. */
  const snapshotNumber = createMemo((before: SnapshotNumber): SnapshotNumber => {
    const { log, state } = feed.status();
    const isBack = before.isDisconnected && state === "connected";
    const isNew = log !== before.log || isBack;
    return { log, isDisconnected: state === "disconnected", count: before.count + (isNew ? 1 : 0) };
  }, NO_SNAPSHOT);
  const neededSnapshot = createMemo(() => snapshotNumber().count);
  createEffect(
    on(neededSnapshot, (count) => {
      if (count > 0) void load();
    }),
  );
  return { isLoaded, sessions: rows.sessions, tasks: rows.tasks, now };
}

/**
 * `reconcile` writes into the objects that the store already has. Without a copy it would change values that the fold
 * shares between rows, such as the usage of a session that has used nothing.
 */
function copyRow<Row extends SessionSummary | TaskView>(row: Row): Row {
  const copyValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return [...(value as unknown[])];
    return typeof value === "object" && value !== null ? { ...value } : value;
  };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, copyValue(value)])) as unknown as Row;
}
