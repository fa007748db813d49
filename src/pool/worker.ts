/**
 * The record of a worker: registers this process in the store, renews the record, follows the requests of operators in
 * it, and lists the other workers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  newId,
  RookeryError,
  type Store,
  type StoredWorker,
  type WorkerRecord,
  type WorkerRequest,
} from "../domain/index.ts";
import { DEFAULT_LEASE_TIMING, type LeaseTiming } from "../session/index.ts";
import { isDeadOwner, type Clock } from "../stdx/index.ts";
import type { PlacementRules } from "./placement.ts";

/** Names of agents that are configured on this host. */
export interface AgentReadiness {
  readonly ready: readonly string[];
  readonly unready: readonly string[];
}

export interface WorkerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly leaseTiming?: LeaseTiming | undefined;
  /** Checks which agents can run on this host. */
  readAgents(): Promise<AgentReadiness>;
  /** How many sessions this process drives, not counting those of tasks. */
  countSessions(): number;
}

export interface WorkerOptions extends Pick<
  WorkerRecord,
  "kind" | "host" | "scope" | "owner" | "version" | "labels" | "mirrors" | "maxRunning"
> {
  /** False if the store belongs to one host. */
  readonly isShared: boolean;
  /** Takes only tasks of these agents. Default: all. */
  readonly agents?: readonly string[] | undefined;
  readonly preferLastHostMs: number;
  /** Called if the host ID turns out to be used by another machine. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

const MAX_BEAT_MS = 2_000;
const AGENTS_MS = 30_000;
/** How long a lost worker is listed. */
const FORGET_MS = 60 * 60_000;

export class Worker implements AsyncDisposable {
  readonly #parts: WorkerParts;
  readonly #options: WorkerOptions;
  readonly #id: string;
  readonly #startedAt: string;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  #agents: AgentReadiness = { ready: [], unready: [] };
  #agentsAt = 0;
  #others: readonly StoredWorker[] = [];
  /** The heartbeats that rivals had when they were last read. */
  #rivalBeats: ReadonlyMap<string, number> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #hasReported = false;
  /** An operator asked it to exit, so it will not be restarted. */
  #isAsked = false;
  #closed = false;

  private constructor(parts: WorkerParts, options: WorkerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#id = newId("wrk", parts.clock.now());
    this.#startedAt = new Date(parts.clock.now()).toISOString();
  }

  /** Rejects with `host_in_use` if another machine has a worker with this host ID, or with a `store_*` error. */
  static async register(parts: WorkerParts, options: WorkerOptions): Promise<Worker> {
    const worker = new Worker(parts, options);
    await worker.#readAgents();
    await worker.#save("ready");
    try {
      await worker.#refuseSharedHost();
    } catch (error) {
      worker.#closed = true;
      await parts.store.removeWorker(worker.#id).catch(() => undefined); // it expires
      throw error;
    }
    await worker.#removePredecessors();
    worker.#schedule();
    return worker;
  }

  get id(): string {
    return this.#id;
  }

  /** Aborts when the worker must not take new work. */
  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  /** Aborts when an operator asks it to stop. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  get rules(): PlacementRules {
    const { host, isShared, preferLastHostMs } = this.#options;
    const abilities = { ...this.#record("ready"), host: isShared ? host : undefined };
    return { abilities, preferLastHostMs, expectsHost: (other) => this.#expectsHost(other) };
  }

  drain(): void {
    this.#drain.abort();
    void this.#beat();
  }

  /**
   * Ends the renewals. Keeps the record for a while, because the worker may be restarted, unless an operator asked it
   * to exit.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#beating;
    const { store } = this.#parts;
    await (this.#isAsked ? store.removeWorker(this.#id) : this.#save("stopped")).catch(() => undefined); // it expires
  }

  get #timing(): { readonly beatMs: number; readonly ttlMs: number } {
    const { ttlMs, renewMs } = this.#parts.leaseTiming ?? DEFAULT_LEASE_TIMING;
    return { beatMs: Math.min(MAX_BEAT_MS, renewMs / 2), ttlMs: ttlMs / 2 }; // lost before its leases expire
  }

  #schedule(): void {
    if (!this.#closed) this.#timer = setTimeout(() => void this.#beat(), this.#timing.beatMs).unref();
  }

  /** Ignores failures of the store until the next renewal: the leases of running work report them. */
  #beat(): Promise<void> {
    clearTimeout(this.#timer);
    this.#beating ??= this.#renew()
      .catch(() => undefined)
      .finally(() => {
        this.#beating = undefined;
        this.#schedule();
      });
    return this.#beating;
  }

  async #renew(): Promise<void> {
    const { store, clock } = this.#parts;
    if (performance.now() - this.#agentsAt > AGENTS_MS) {
      await this.#readAgents();
      await store.forgetWorkers(clock.now() - FORGET_MS);
    }
    this.#obey(await this.#save(this.#drain.signal.aborted ? "draining" : "ready"));
    this.#others = (await store.workers()).filter(({ id }) => id !== this.#id);
    const rival = this.#findLivingRival();
    if (rival !== undefined && !this.#hasReported) {
      this.#hasReported = true;
      this.#options.onProblem?.(hostInUse(rival, clock.now()));
    }
  }

  #obey(request: WorkerRequest | undefined): void {
    if (request === undefined) return;
    this.#isAsked = true;
    this.#drain.abort();
    if (request === "stop") this.#stop.abort();
  }

  async #readAgents(): Promise<void> {
    this.#agentsAt = performance.now();
    this.#agents = await this.#parts.readAgents();
  }

  #save(state: WorkerRecord["state"]): Promise<WorkerRequest | undefined> {
    const now = this.#parts.clock.now();
    const lifeMs = state === "stopped" ? this.#options.preferLastHostMs : this.#timing.ttlMs;
    return this.#parts.store.saveWorker({ ...this.#record(state), heartbeat: now, until: now + lifeMs });
  }

  #record(state: WorkerRecord["state"]): WorkerRecord {
    const { kind, host, scope, owner, version, labels, mirrors, maxRunning, agents: only } = this.#options;
    const { ready, unready } = this.#agents;
    return {
      id: this.#id,
      kind,
      host,
      scope,
      owner,
      pid: process.pid,
      version,
      startedAt: this.#startedAt,
      labels,
      agents: only === undefined ? ready : ready.filter((name) => only.includes(name)),
      unreadyAgents: only === undefined ? unready : unready.filter((name) => only.includes(name)),
      onlyAgents: only !== undefined,
      mirrors,
      maxRunning,
      sessions: this.#parts.countSessions(),
      state,
    };
  }

  #expectsHost(host: string): boolean {
    const now = this.#parts.clock.now();
    return this.#others.some(
      (other) =>
        other.host === host &&
        other.until > now &&
        other.maxRunning > 0 &&
        other.state !== "draining" &&
        other.request === undefined,
    );
  }

  /**
   * A record with this host ID on another machine may be left from a worker that died a moment ago, or that had a wrong
   * clock. Only a record that is renewed while this worker waits proves that there are two machines.
   */
  async #refuseSharedHost(): Promise<void> {
    const { store, clock } = this.#parts;
    const { beatMs, ttlMs } = this.#timing;
    const until = performance.now() + ttlMs;
    for (;;) {
      this.#others = (await store.workers()).filter(({ id }) => id !== this.#id);
      const alive = this.#findLivingRival();
      if (alive !== undefined) throw hostInUse(alive, clock.now());
      if (this.#listRivals().length === 0 || performance.now() > until) return;
      await sleep(beatMs / 2);
      await this.#save("ready");
    }
  }

  /** Finds a rival that has renewed its record since the last call. */
  #findLivingRival(): StoredWorker | undefined {
    const rivals = this.#listRivals();
    const alive = rivals.find(({ id, heartbeat }) => heartbeat > (this.#rivalBeats.get(id) ?? Infinity));
    this.#rivalBeats = new Map(rivals.map(({ id, heartbeat }) => [id, heartbeat]));
    return alive;
  }

  /** Workers with this host ID on another machine, in another container, or before the last boot. */
  #listRivals(): readonly StoredWorker[] {
    const { host, scope } = this.#options;
    const now = this.#parts.clock.now();
    return this.#others.filter(
      (other) => other.host === host && other.scope !== scope && other.state !== "stopped" && other.until > now,
    );
  }

  /** Removes the records of dead workers of this host. */
  async #removePredecessors(): Promise<void> {
    const { host } = this.#options;
    const gone = this.#others.filter(
      (other) => other.host === host && (other.state === "stopped" || isDeadOwner(other.owner)),
    );
    for (const { id } of gone) await this.#parts.store.removeWorker(id);
  }
}

function hostInUse({ host, pid, version, heartbeat }: StoredWorker, now: number): RookeryError {
  const seen = `process ${pid} (version ${version}), last seen ${Math.max(0, Math.round((now - heartbeat) / 1000))} s ago`;
  const fix = "set another [host] id in rookery.toml, or ROOKERY_HOST_ID, on one of them";
  return new RookeryError("host_in_use", `another machine or container uses the host id ${host}: ${seen}; ${fix}`);
}
