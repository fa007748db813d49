/**
 * The port of worker records: which processes drive sessions and run tasks, on which hosts, and what operators ask of
 * them. A worker renews its record; it counts as lost if the record is not renewed before `until`.
 */

export const WORKER_KINDS = ["worker", "serve"] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** `drain`: take no new work, finish what runs, then exit. `stop`: hand over what runs, then exit. */
export const WORKER_REQUESTS = ["drain", "stop"] as const;
export type WorkerRequest = (typeof WORKER_REQUESTS)[number];

/** What a worker reports about itself. */
export interface WorkerRecord {
  readonly id: string;
  readonly kind: WorkerKind;
  readonly host: string;
  /** The machine, boot and PID namespace. Two of them with one host ID are two machines. */
  readonly scope: string;
  /** The owner of its leases, without the part after the slash. */
  readonly owner: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  readonly labels: readonly string[];
  /** Agents that are ready on the host. */
  readonly agents: readonly string[];
  /** Agents that are configured on the host but cannot run there, or that the worker does not take. */
  readonly unreadyAgents: readonly string[];
  /** True if it takes only tasks of `agents`. False: also tasks of agents that only their repository configures. */
  readonly onlyAgents: boolean;
  /** Whether it gets repositories of other hosts from their remote. */
  readonly mirrors: boolean;
  /** How many tasks it runs at once. 0 if it runs none. */
  readonly maxRunning: number;
  /** Sessions that it drives, not counting those of tasks. */
  readonly sessions: number;
  /** `stopped`: the process has shut down and may be started again. */
  readonly state: "ready" | "draining" | "stopped";
}

/** A record in the store. */
export interface StoredWorker extends WorkerRecord {
  /** When the record was last renewed, and when the worker counts as lost. Milliseconds since the epoch. */
  readonly heartbeat: number;
  readonly until: number;
  /** What an operator has asked it to do. */
  readonly request?: WorkerRequest | undefined;
}

export interface WorkerStore {
  /**
   * Inserts or renews a record, in one statement. Resolves with what the worker has been asked to do, and keeps that.
   */
  saveWorker(worker: Omit<StoredWorker, "request">): Promise<WorkerRequest | undefined>;
  /** All records, the oldest worker first, including those of lost workers. */
  workers(): Promise<readonly StoredWorker[]>;
  /** Asks a worker to drain or stop. Resolves with false if there is no such record. A drain does not replace a stop. */
  askWorker(id: string, request: WorkerRequest): Promise<boolean>;
  /** Deletes a record. Does nothing if there is none. */
  removeWorker(id: string): Promise<void>;
  /** Deletes the records whose `until` is before this time. */
  forgetWorkers(before: number): Promise<void>;

  /**
   * A value that all processes of the store agree on, such as the duration of leases. Resolves with the current value;
   * if there is none, `value` becomes it. With `replace`, `value` always becomes it.
   */
  agreeOnSetting(setting: SharedSetting): Promise<string>;
}

export interface SharedSetting {
  readonly name: string;
  readonly value: string;
  /** Default: false. */
  readonly replace?: boolean | undefined;
}
