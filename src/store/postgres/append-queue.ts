/** Group commit: appends that arrive during a commit share the next one, which is one call of `append_group`. */
import { setTimeout as delay } from "node:timers/promises";
import { RookeryError, type Appended } from "../../domain/index.ts";
import { deferred, type Deferred } from "../../stdx/deferred.ts";
import type { PreparedAppend } from "../admission.ts";
import { planAppends, type AppendResult } from "./append-plan.ts";
import { joinedTasks, toAppendRows } from "./append-rows.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConnectionLost, isStaleWrite, toPostgresError } from "./errors.ts";
import { APPEND_PARAMETERS } from "./functions/append.ts";
import { LogCache } from "./log-cache.ts";
import { loadLogs, loadTaskNumbers, logKey, type KnownLog } from "./log-facts.ts";

/** Limits of a group. A single append may be larger. */
const MAX_GROUP_APPENDS = 2_000;
const MAX_GROUP_BYTES = 1024 * 1024;
/** Limits of the queue. Appends beyond them are rejected until the server catches up. */
const MAX_QUEUED_BYTES = 256 * 1024 * 1024;
const MAX_QUEUED_APPENDS = 200_000;
const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 500;

export interface AppendQueueOptions {
  /** How long a commit is retried while the connection is lost or other writers are faster, in milliseconds. */
  readonly timeout: number;
  /** Called after each commit with the new heads of the changed logs. */
  onCommit(heads: ReadonlyMap<string, number>): void;
}

export class AppendQueue {
  readonly #connection: PostgresConnection;
  readonly #options: AppendQueueOptions;
  readonly #cache = new LogCache();
  #queue: QueuedAppend[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  /** Number of queued appends to commit one by one, because their group failed and one of them may be the cause. */
  #singleCount = 0;

  constructor(connection: PostgresConnection, options: AppendQueueOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Resolves when the append is durable. Throws `store_unavailable` if the queue is full. */
  add(prepared: PreparedAppend): Promise<Appended> {
    if (this.#queue.length >= MAX_QUEUED_APPENDS || this.#queuedBytes + prepared.bytes > MAX_QUEUED_BYTES) {
      const load = `${this.#queue.length} appends are queued for ${this.#connection.where}, which is the limit`;
      throw new RookeryError("store_unavailable", `${load}: wait for them before you append more`);
    }
    const queued = { prepared, since: performance.now(), result: deferred<Appended>() };
    this.#queue.push(queued);
    this.#queuedBytes += prepared.bytes;
    this.#running ??= this.#run();
    return queued.result.promise;
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextLoopTurn();
      await this.#commitGroup(this.#takeGroup());
    }
    this.#running = undefined;
  }

  async #commitGroup(group: readonly QueuedAppend[]): Promise<void> {
    const appends = group.map(({ prepared }) => prepared);
    const deadline = (group[0]?.since ?? 0) + this.#options.timeout;
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
      try {
        this.#settle(group, await this.#write(appends));
        return;
      } catch (error) {
        this.#cache.forgetAll(appends); // whether a lost commit succeeded is known only to the database
        const isLost = isConnectionLost(error);
        if ((isLost || isStaleWrite(error)) && performance.now() < deadline) {
          await (isLost ? delay(wait) : nextLoopTurn());
        } else if (group.length > 1 && !isLost && !(error instanceof RookeryError)) {
          this.#retrySingly(group);
          return;
        } else {
          const rejection = toPostgresError(error, this.#connection.where);
          for (const { result } of group) result.reject(rejection);
          return;
        }
      }
    }
  }

  /** Commits the acceptable appends. Rejects with the error of the driver; nothing is committed then, or it is in doubt. */
  async #write(appends: readonly PreparedAppend[]): Promise<readonly AppendResult[]> {
    const logs = new Map<string, KnownLog>();
    for (const { kind, logId } of appends) {
      const cached = this.#cache.get(logKey(kind, logId));
      if (cached !== undefined) logs.set(logKey(kind, logId), cached);
    }
    await this.#load(logs, appends, (key) => !logs.has(key));
    let plan = planAppends(appends, logs);
    if (plan.doubtful.length > 0) {
      const doubtful = new Set(plan.doubtful);
      await this.#load(logs, appends, (key) => doubtful.has(key));
      plan = planAppends(appends, logs);
    }
    if (plan.grown.length === 0) return plan.results;
    const taskNumbers = await loadTaskNumbers(this.#connection, joinedTasks(plan.grown));
    const bytes = appends.reduce((sum, prepared) => sum + prepared.bytes, 0);
    await this.#connection.tryQuery(APPEND_SQL, toAppendRows(plan.grown, taskNumbers), { bytes });
    this.#cache.rememberAll(plan.grown, taskNumbers);
    return plan.results;
  }

  async #load(
    logs: Map<string, KnownLog>,
    appends: readonly PreparedAppend[],
    isWanted: (key: string) => boolean,
  ): Promise<void> {
    const wanted = appends.filter(({ kind, logId }) => isWanted(logKey(kind, logId)));
    if (wanted.length === 0) return;
    for (const [key, log] of await loadLogs(this.#connection, wanted)) logs.set(key, log);
  }

  /** Ensures that an append that the server rejects only fails itself. */
  #retrySingly(group: readonly QueuedAppend[]): void {
    this.#queue.unshift(...group);
    this.#queuedBytes += group.reduce((sum, { prepared }) => sum + prepared.bytes, 0);
    this.#singleCount = group.length;
  }

  #takeGroup(): QueuedAppend[] {
    let bytes = 0;
    let count = 0;
    const maxAppends = this.#singleCount > 0 ? 1 : MAX_GROUP_APPENDS;
    for (const { prepared } of this.#queue) {
      if (count > 0 && (count >= maxAppends || bytes + prepared.bytes > MAX_GROUP_BYTES)) break;
      bytes += prepared.bytes;
      count += 1;
    }
    this.#queuedBytes -= bytes;
    this.#singleCount = Math.max(0, this.#singleCount - count);
    return this.#queue.splice(0, count);
  }

  #settle(group: readonly QueuedAppend[], results: readonly AppendResult[]): void {
    const heads = new Map<string, number>();
    for (const [index, { prepared, result }] of group.entries()) {
      const verdict = results[index];
      if (verdict === undefined || "refused" in verdict) {
        result.reject(verdict?.refused);
        continue;
      }
      if (!verdict.appended.repeated) heads.set(prepared.logId, verdict.appended.head);
      result.resolve(verdict.appended);
    }
    if (heads.size > 0) this.#options.onCommit(heads);
  }
}

interface QueuedAppend {
  readonly prepared: PreparedAppend;
  readonly since: number;
  readonly result: Deferred<Appended>;
}

const APPEND_SQL = `select @append_group(${APPEND_PARAMETERS.map(([, type], index) => `$${index + 1}::${type}`).join(", ")})`;

/** Lets everything that is ready to run join the group first. */
function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
