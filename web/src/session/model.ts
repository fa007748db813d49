/**
 * One session: its state and the end of its transcript, older pages on demand, and new events from the feed. The screen
 * changes at most once per frame.
 */
import { batch, createEffect, createSignal, on, onCleanup, type Accessor } from "solid-js";
import { errorOf, isRookeryError, type RookeryClient } from "../../../src/client/index.ts";
import type { EventOf, SessionEvent } from "../../../src/domain/events.ts";
import { SessionFold } from "../../../src/domain/state-fold.ts";
import { emptyState, type SessionState } from "../../../src/domain/state.ts";
import type { Feed } from "../feed/feed.ts";
import { messageOf } from "../request.ts";
import { RowTable, type Row } from "./rows.ts";
import { Transcript } from "./transcript/transcript.ts";

export interface SessionModel {
  readonly id: string;
  /** Undefined until it was read. */
  readonly state: Accessor<SessionState | undefined>;
  readonly rows: Accessor<readonly Row[]>;
  /** True while the change of `rows` adds older ones at the start. */
  readonly isPrepending: Accessor<boolean>;
  readonly isLoaded: Accessor<boolean>;
  readonly hasOlder: Accessor<boolean>;
  /** The last report of the size of the context. */
  readonly context: Accessor<ContextUse | undefined>;
  readonly plan: Accessor<EventOf<"plan.updated">["entries"] | undefined>;
  readonly problem: Accessor<string | undefined>;
  /** True if the server has no such session, or no longer. */
  readonly isMissing: Accessor<boolean>;
  loadOlder(): Promise<void>;
}

export interface ContextUse {
  readonly used: number;
  readonly size: number | undefined;
}

/** Pages are small enough to be parsed within a frame. */
const FIRST_PAGE = { limit: 400, maxBytes: 256 * 1024 };
const OLDER_PAGE = { limit: 2_000, maxBytes: 512 * 1024 };
const RETRY_MS = 1_000;

interface Page {
  readonly events: readonly SessionEvent[];
  readonly head: number;
}

export function openSession(client: RookeryClient, feed: Feed, id: string): SessionModel {
  const [state, setState] = createSignal<SessionState>();
  const [rows, setRows] = createSignal<readonly Row[]>([]);
  const [isPrepending, setPrepending] = createSignal(false);
  const [isLoaded, setLoaded] = createSignal(false);
  const [hasOlder, setHasOlder] = createSignal(false);
  const [context, setContext] = createSignal<ContextUse>();
  const [plan, setPlan] = createSignal<EventOf<"plan.updated">["entries"]>();
  const [problem, setProblem] = createSignal<string>();
  const [isMissing, setMissing] = createSignal(false);
  const fail = (error: unknown): void => {
    if (isRookeryError(error, "session_not_found")) setMissing(true);
    else setProblem(messageOf(error));
  };

  let live = new LiveSession();
  let loading = 0;
  let frame: number | undefined;
  let isLoadingOlder = false;

  const show = (): void => {
    frame = undefined;
    batch(() => {
      const changed = live.table.update(live.transcript);
      if (changed !== undefined) setRows(changed);
      const next = live.takeState();
      if (next !== undefined) setState(next);
      setContext(live.context);
      setPlan(live.plan);
      if (live.problem !== undefined) setProblem(`${live.problem}. Load this page again.`);
    });
    if (live.hasGap) void catchUp();
  };
  const showSoon = (): void => void (frame ??= requestAnimationFrame(show));

  const read = async (query: Record<string, unknown>): Promise<Page> => {
    const params = { path: { id }, query };
    const { data, error, response } = await client.GET("/v1/sessions/{id}/events", { params });
    if (data === undefined) throw errorOf(error, response.status);
    return data;
  };

  /** Reads the events that the feed missed: it started after the page was read, or skipped events. */
  const catchUp = async (): Promise<void> => {
    const own = live;
    try {
      await retry(async () => {
        for (;;) {
          const page = await read({ after: own.head });
          own.add(page.events);
          if (page.events.length === 0 || own.head >= page.head) return;
        }
      });
    } catch (error) {
      return fail(error);
    }
    if (own === live) showSoon();
  };

  const load = async (): Promise<void> => {
    const own = (loading += 1);
    const next = new LiveSession();
    const isCurrent = (): boolean => own === loading;
    live.next = next; // events that arrive from now on belong to both
    try {
      await retry(async () => {
        const page = await read({ order: "newest_first", ...FIRST_PAGE });
        if (!isCurrent()) return;
        next.start(page);
        live = next;
        batch(() => {
          setHasOlder(next.first > 1);
          show();
          setLoaded(true);
          setProblem(undefined);
        });
      }, isCurrent);
      // After the page, because the server reads the whole log for the first state of a long session.
      await retry(async () => {
        const { data, error, response } = await client.GET("/v1/sessions/{id}/state", { params: { path: { id } } });
        if (data === undefined) throw errorOf(error, response.status);
        if (!isCurrent()) return;
        next.startState({ ...emptyState(id), ...(data as Partial<SessionState>) });
        showSoon();
      }, isCurrent);
    } catch (error) {
      if (isCurrent()) fail(error);
    }
  };

  async function loadOlder(): Promise<void> {
    if (isLoadingOlder || !hasOlder()) return;
    isLoadingOlder = true;
    const own = live;
    try {
      for (let added = 0; added === 0 && own.first > 1;) {
        const page = await read({ order: "newest_first", before: own.first, ...OLDER_PAGE });
        if (own !== live) return;
        show(); // what came live goes to the end before older rows go to the start
        const before = rows().length;
        own.prepend(page);
        batch(() => {
          setPrepending(true);
          show();
        });
        setPrepending(false);
        added = rows().length - before; // a page may hold nothing but pieces of one message
        setHasOlder(own.first > 1);
      }
    } catch (error) {
      console.warn("an older page could not be read", error);
    } finally {
      isLoadingOlder = false;
    }
  }

  onCleanup(
    feed.listen((events) => {
      const own = events.flatMap(({ event }) => (isOfSession(event, id) ? [event] : []));
      if (own.length === 0) return;
      live.add(own);
      live.next?.add(own);
      showSoon();
    }),
  );
  onCleanup(
    feed.listenToDeletions((deleted) => {
      if (deleted === id) setMissing(true);
    }),
  );
  onCleanup(() => {
    loading += 1;
    if (frame !== undefined) cancelAnimationFrame(frame);
  });
  void load();
  createEffect(
    on(
      () => feed.status().log,
      (log, before) => {
        if (log === 0) return;
        if (before !== undefined && before !== 0) void (log !== before && load());
        else if (isLoaded()) void catchUp();
      },
    ),
  );
  createEffect(on(isLoaded, (isReady) => void (isReady && feed.status().log > 0 && catchUp())));
  createEffect(
    on(
      () => feed.status().state,
      (now, before) => {
        // A deletion leaves no event that a page could read later.
        if (before === "disconnected" && now === "connected" && isLoaded()) void catchUp();
      },
    ),
  );
  return { id, state, rows, isPrepending, isLoaded, hasOlder, context, plan, problem, isMissing, loadOlder };
}

function isOfSession(event: object, id: string): event is SessionEvent {
  return "sessionId" in event && event.sessionId === id && !("taskId" in event);
}

/** Repeats an attempt while the server does not answer. Rejects with its error. */
async function retry(attempt: () => Promise<void>, isWanted = () => true): Promise<void> {
  while (isWanted()) {
    try {
      return await attempt();
    } catch (error) {
      const { code } = error as { code?: string };
      const isTransient = error instanceof TypeError || code === "interrupted" || code === "server_unreachable";
      if (!isTransient) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The folds of one session. Holds events until the snapshot that they continue was read. */
class LiveSession {
  readonly transcript = new Transcript();
  readonly table = new RowTable();
  /** The one that replaces this one, while it is read. */
  next: LiveSession | undefined;
  first = 0;
  head = 0;
  hasGap = false;
  /** Why the state is not current. */
  problem: string | undefined;
  context: ContextUse | undefined;
  plan: EventOf<"plan.updated">["entries"] | undefined;
  #fold: SessionFold | undefined;
  #isStarted = false;
  #held: SessionEvent[] = [];
  #heldForState: SessionEvent[] = [];
  #isStateChanged = false;

  start({ events, head }: Page): void {
    const oldestFirst =
      events[0] !== undefined && events[0].seq > (events.at(-1)?.seq ?? 0) ? events.toReversed() : events;
    this.first = oldestFirst[0]?.seq ?? head + 1;
    this.head = this.first - 1;
    this.#isStarted = true;
    this.#apply(oldestFirst);
    this.#apply(this.#held);
    this.#held = [];
  }

  startState(state: SessionState): void {
    this.#fold = new SessionFold(state);
    this.#isStateChanged = true;
    const held = this.#heldForState;
    this.#heldForState = [];
    for (const event of held) this.#foldState(event);
  }

  prepend({ events }: Page): void {
    const oldestFirst = events.toSorted((one, other) => one.seq - other.seq);
    const older = new Transcript();
    for (const event of oldestFirst) older.add(event);
    this.transcript.prepend(older);
    this.first = oldestFirst[0]?.seq ?? 1;
  }

  add(events: readonly SessionEvent[]): void {
    if (this.#isStarted) this.#apply(events);
    else this.#held.push(...events);
  }

  /** Returns the state if it changed since the last call. */
  takeState(): SessionState | undefined {
    if (!this.#isStateChanged || this.#fold === undefined) return undefined;
    this.#isStateChanged = false;
    return this.#fold.state;
  }

  #apply(events: readonly SessionEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.head) continue;
      this.hasGap = event.seq > this.head + 1;
      if (this.hasGap) return; // `catchUp` reads them again
      this.head = event.seq;
      this.transcript.add(event);
      this.#addFacts(event);
      this.#foldState(event);
    }
  }

  #foldState(event: SessionEvent): void {
    if (this.#fold === undefined) return void this.#heldForState.push(event);
    if (event.seq <= this.#fold.head) return;
    this.#isStateChanged = true;
    try {
      this.#fold.add(event);
    } catch (error) {
      // The server is newer than this page.
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  #addFacts(event: SessionEvent): void {
    if (event.type === "usage.reported" && event.contextUsed !== undefined) {
      this.context = { used: event.contextUsed, size: event.contextSize };
    } else if (event.type === "plan.updated") this.plan = event.entries;
    else if (event.type === "turn.started") this.plan = undefined;
  }
}
