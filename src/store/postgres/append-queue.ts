/** Commits groups of appends, each with one call of `append_group_columns`, and repeats a commit that is in doubt. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError, RookeryError, type Appended } from "../../domain/index.ts";
import type { PreparedAppend } from "../admission.ts";
import { AppendGroups, nextLoopTurn, type AppendGroupsOptions, type QueuedAppend } from "../append-groups.ts";
import { toAppendColumns } from "./append-columns.ts";
import { planAppends, type AppendResult } from "./append-plan.ts";
import { joinedTasks } from "./append-rows.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConnectionLost, isLockTimeout, isStaleWrite, toPostgresError } from "./errors.ts";
import { APPEND_COLUMNS_PARAMETERS } from "./functions/append-columns.ts";
import { LogCache } from "./log-cache.ts";
import { loadLogs, loadTaskNumbers, logKey, type KnownLog } from "./log-facts.ts";

const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 500;

export interface AppendQueueOptions extends Pick<AppendGroupsOptions, "onCommit"> {
  /** How long a commit is retried while the connection is lost or other writers are faster, in milliseconds. */
  readonly timeout: number;
}

export class AppendQueue {
  readonly #connection: PostgresConnection;
  readonly #timeout: number;
  readonly #cache = new LogCache();
  readonly #groups: AppendGroups;

  constructor(connection: PostgresConnection, { timeout, onCommit }: AppendQueueOptions) {
    this.#connection = connection;
    this.#timeout = timeout;
    const commitNext = () => this.#commit(this.#groups.take());
    this.#groups = new AppendGroups({ where: () => connection.where, commitNext, onCommit });
  }

  /** Resolves when the append is durable. Throws `store_unavailable` if the queue is full. */
  add(prepared: PreparedAppend): Promise<Appended> {
    return this.#groups.add(prepared);
  }

  /** Resolves when the queue is empty. */
  drained(): Promise<void> {
    return this.#groups.drained();
  }

  async #commit(group: readonly QueuedAppend[]): Promise<void> {
    const appends = group.map(({ prepared }) => prepared);
    const deadline = (group[0]?.since ?? 0) + this.#timeout;
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
      try {
        return this.#groups.settle(group, await this.#write(appends));
      } catch (error) {
        this.#cache.forgetAll(appends); // whether a lost commit succeeded is known only to the database
        const isLost = isConnectionLost(error);
        const isLocked = isLockTimeout(error);
        if (!(isLost || isLocked || isStaleWrite(error)) || performance.now() >= deadline) {
          const isDamaged = isRookeryError(error, "log_corrupt"); // the state of one log
          const mayBeOneAppend = isDamaged || !(isLost || isLocked || error instanceof RookeryError);
          return this.#groups.fail(group, toPostgresError(error, this.#connection.where), { mayBeOneAppend });
        }
        await (isLost ? delay(wait) : nextLoopTurn());
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
    await this.#connection.tryQuery(APPEND_SQL, toAppendColumns(plan.grown, taskNumbers), { bytes });
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
}

const APPEND_SQL = `select @append_group_columns(${APPEND_COLUMNS_PARAMETERS.map(([, type], index) => `$${index + 1}::${type}`).join(", ")})`;
