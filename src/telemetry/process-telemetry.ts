/** Everything that one process measures: its metrics, and spans if a collector is configured. */
import type { Store } from "../domain/index.ts";
import { DisposeStack, groupCommits, storeConnections } from "../stdx/index.ts";
import { LogTracer } from "./log-tracer.ts";
import { DURATION_BOUNDS, Meter, type Counter, type Histogram } from "./meter.ts";
import { observeStore, type StoreObserver } from "./observed-store.ts";
import { measureProcess } from "./process-metrics.ts";
import type { Span } from "./span.ts";
import { measureSpans } from "./span-metrics.ts";

export interface ProcessTelemetryOptions {
  readonly store: Store;
  /** Counts the child processes of this process. Called at most every 10 s. */
  readonly countChildren: () => number;
  /** Whether spans contain prompts, replies, arguments and results. Default: false. */
  readonly content?: boolean | undefined;
  readonly onSpan?: ((span: Span) => void) | undefined;
}

/** Scanning all processes takes some milliseconds. */
const CHILDREN_CACHE_MS = 10_000;
const GROUP_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];

export class ProcessTelemetry implements Disposable {
  readonly meter = new Meter();
  /** Use it instead of the store that was passed in. */
  readonly store: Store;
  readonly #tracer: LogTracer;
  readonly #owned = new DisposeStack();
  #hasWorked = false;

  constructor({ store, countChildren, content = false, onSpan = () => undefined }: ProcessTelemetryOptions) {
    const { meter } = this;
    const incomplete = meter.counter({
      name: "rookery.trace.incomplete",
      help: "Sessions and tasks whose spans are incomplete because the log could not be read.",
    });
    const record = measureSpans(meter);
    this.#tracer = new LogTracer({
      store,
      content,
      onSpan: (span) => {
        record(span);
        onSpan(span);
      },
      onFailure: () => incomplete.add(),
    });
    const onWork = (): void => void (this.#hasWorked = true);
    this.store = observeStore(store, createObserver(meter, this.#tracer, onWork));
    meter.gauge({ name: "rookery.turns.running", help: "Turns that this process runs." }, () => this.#tracer.openTurns);
    this.#measureGroups();
    this.#owned.use(measureProcess(meter, { countChildren: cachedFor(CHILDREN_CACHE_MS, countChildren) }));
  }

  /** True if this process has committed an event. */
  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  /** Resolves when all spans of committed events were passed on. */
  settled(): Promise<void> {
    return this.#tracer.settled();
  }

  [Symbol.dispose](): void {
    void this.#owned[Symbol.asyncDispose]();
  }

  #measureGroups(): void {
    const { meter } = this;
    const sizes = meter.histogram({
      name: "rookery.append.group.size",
      help: "Appends that shared one commit.",
      bounds: GROUP_BOUNDS,
    });
    const bytes = meter.counter({ name: "rookery.append", unit: "By", help: "Committed events in bytes of JSON." });
    const connections = meter.counter({
      name: "rookery.store.connections",
      help: "Connections to the database that were opened, could not be opened, or were lost, by state.",
    });
    this.#owned.use(
      groupCommits.subscribe((group) => {
        sizes.record(group.appends);
        bytes.add({}, group.bytes);
      }),
    );
    this.#owned.use(storeConnections.subscribe(({ state }) => connections.add({ state })));
  }
}

function createObserver(meter: Meter, tracer: LogTracer, onWork: () => void): StoreObserver {
  const appends: Histogram = meter.histogram({
    name: "rookery.append.duration",
    unit: "s",
    help: "Time from an append until it is durable.",
    bounds: DURATION_BOUNDS,
  });
  const lag: Histogram = meter.histogram({
    name: "rookery.follow.lag",
    unit: "s",
    help: "Time from the creation of an event until a follower in this process received it, by the clocks of both hosts.",
    bounds: DURATION_BOUNDS,
  });
  const events: Counter = meter.counter({ name: "rookery.events", help: "Events that this process has committed." });
  const errors: Counter = meter.counter({ name: "rookery.store.errors", help: "Failed calls of the store, by code." });
  const claims: Counter = meter.counter({
    name: "rookery.tasks.claimed",
    help: "Tasks that this process has claimed.",
  });
  const leases: Counter = meter.counter({
    name: "rookery.lease.changes",
    help: "Changes of leases, by kind and change.",
  });
  const held = new Set<string>();
  const kindOf = (id: string): "session" | "task" => (id.startsWith("ses_") ? "session" : "task");
  meter.gauge({ name: "rookery.leases.held", help: "Sessions that this process drives, and tasks that it runs." }, () =>
    (["session", "task"] as const).map((kind) => ({
      labels: { kind },
      value: Array.from(held).filter((id) => kindOf(id) === kind).length,
    })),
  );
  return {
    onSessionEvents: (sessionId, before, drafts) => {
      onWork();
      events.add({ log: "session" }, drafts.length);
      // Answers and inputs for a session that another process drives do not belong to a turn of this process.
      if (held.has(sessionId) || before === 0) tracer.addSessionEvents(sessionId, before, drafts);
    },
    onTaskEvents: (taskId, before, drafts) => {
      onWork();
      events.add({ log: "task" }, drafts.length);
      if (held.has(taskId)) tracer.addTaskEvents(taskId, before, drafts);
    },
    onAppend: (seconds) => appends.record(seconds),
    onClaim: (taskId, head) => {
      claims.add();
      tracer.addClaim(taskId, head);
    },
    onLease: (change, id) => {
      leases.add({ kind: kindOf(id), change });
      if (change === "taken") held.add(id);
      if (change !== "released" && change !== "lost") return;
      held.delete(id);
      tracer.forget(id);
    },
    onStoreError: (code) => errors.add({ code }),
    onFollowed: (seconds) => lag.record(seconds),
  };
}

function cachedFor(ms: number, read: () => number): () => number {
  let cache: { readonly at: number; readonly value: number } | undefined;
  return () => {
    const now = performance.now();
    if (cache === undefined || now - cache.at >= ms) cache = { at: now, value: read() };
    return cache.value;
  };
}
