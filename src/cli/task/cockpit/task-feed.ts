/** Keeps the list of tasks up to date, and connects again if the server is lost. */
import { RookeryError } from "../../../domain/errors.ts";
import { formatError } from "../../exit.ts";
import type { ListedTask } from "../interrupted.ts";
import type { LoggedEvent, TaskService } from "../service.ts";
import { ChangeSignal, sleepUnlessAborted } from "./change-signal.ts";

export interface TaskFeedOptions {
  /** The first service. Its owner disposes it. */
  readonly service: TaskService;
  /** Opens the service again: the same server, another one, or the log of this machine. */
  readonly reopen: () => Promise<TaskService>;
  /** True if a server has started since the log of this machine was opened. */
  readonly hasNewServer: () => boolean;
  readonly read: (service: TaskService) => Promise<readonly ListedTask[]>;
  readonly onTasks: (tasks: readonly ListedTask[], service: TaskService) => void;
  /** Called with the events of all tasks. */
  readonly onEvent: (logged: LoggedEvent) => void;
  readonly onDisconnected: (why: string) => void;
}

/** Reads at most four times a second, and at least every two seconds, which shows that the server is alive. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;
/** A server that takes longer to list tasks counts as lost. */
const READ_TIMEOUT_MS = 15_000;
const RECONNECT_MS = 1_000;

export class TaskFeed {
  readonly #options: TaskFeedOptions;
  readonly #changes = new ChangeSignal();
  #service: TaskService;
  #lost = new AbortController();

  constructor(options: TaskFeedOptions) {
    this.#options = options;
    this.#service = options.service;
  }

  get service(): TaskService {
    return this.#service;
  }

  /** Aborts when the current service is lost or replaced. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Reads the tasks soon. */
  refresh(): void {
    this.#changes.notify();
  }

  /** Resolves after `signal` has aborted. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        try {
          await this.#watch(signal);
        } catch (error) {
          if (!signal.aborted) this.#options.onDisconnected(`${formatError(error)}; trying again`);
        } finally {
          this.#lost.abort();
        }
        if (signal.aborted) return;
        await sleepUnlessAborted(RECONNECT_MS, signal);
        await this.#connect(signal);
      }
    } finally {
      await this.#release();
    }
  }

  /** Returns if a server has started. Rejects if the tasks cannot be read or followed. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { read, onTasks, onEvent, hasNewServer } = this.#options;
    const service = this.#service;
    const stop = AbortSignal.any([signal, this.#lost.signal]);
    let failure: unknown;
    const follow = async (): Promise<void> => {
      const after = await service.head();
      this.#changes.notify(); // for events before `after`
      for await (const logged of service.tasks.follow({ after, signal: stop })) {
        onEvent(logged);
        this.#changes.notify();
      }
    };
    const following = follow().catch((error: unknown) => {
      failure = error;
      this.#changes.notify();
    });
    try {
      while (!signal.aborted) {
        const tasks = await withReadTimeout(read(service), signal);
        if (tasks === undefined) return;
        if (failure !== undefined) throw failure as Error;
        onTasks(tasks, service);
        await sleepUnlessAborted(MIN_PAUSE_MS, signal);
        await this.#changes.wait(MAX_PAUSE_MS - MIN_PAUSE_MS, signal);
        if (service.server === undefined && hasNewServer()) return;
      }
    } finally {
      this.#lost.abort();
      await Promise.race([following, sleepUnlessAborted(RECONNECT_MS, AbortSignal.timeout(RECONNECT_MS))]);
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    try {
      const next = await this.#options.reopen();
      await this.#release();
      this.#service = next;
      this.#lost = new AbortController();
    } catch (error) {
      if (!signal.aborted) this.#options.onDisconnected(`${formatError(error)}; trying again`);
      this.#lost = new AbortController();
    }
  }

  /** The first service belongs to the caller. */
  async #release(): Promise<void> {
    if (this.#service !== this.#options.service) await this.#service[Symbol.asyncDispose]();
  }
}

/** Resolves with undefined if the signal aborts. Rejects with `server_unreachable` after the timeout. */
async function withReadTimeout<T>(reading: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const timeout = sleepUnlessAborted(READ_TIMEOUT_MS, either).then(() => {
    if (either.aborted) return undefined;
    throw new RookeryError("server_unreachable", "the tasks were not read within 15 s");
  });
  timeout.catch(() => undefined); // `race` reports it
  reading.catch(() => undefined);
  try {
    return await Promise.race([reading, timeout]);
  } finally {
    done.abort();
  }
}
