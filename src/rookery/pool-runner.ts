/** Opens the pool of tasks, and runs its tasks in this process until it closes. */
import { copyTrust, loadConfig, userDefaults } from "../config/index.ts";
import { backendLabel } from "../domain/backend-name.ts";
import { Pool, type RunTasks } from "../pool/index.ts";
import type { LiveSessions } from "./live-sessions.ts";
import type { ProcessContext } from "./process-context.ts";

/** Default of `defaults.max_running`. */
const DEFAULT_MAX_RUNNING = 4;
/** How long the value from the user's configuration file is cached. */
const MAX_RUNNING_CACHE_MS = 2_000;

export class PoolRunner {
  readonly pool: Pool;
  readonly #stopping = new AbortController();
  readonly #runs = new Set<Promise<void>>();

  readonly #maxRunning: () => Promise<number>;

  constructor(context: ProcessContext, sessions: LiveSessions) {
    this.#maxRunning = cachedMaxRunning(context.env);
    this.pool = openPool(context, sessions, this.#maxRunning);
  }

  /** Aborts when the runner stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** How many tasks run at once, in all processes. */
  maxRunning(): Promise<number> {
    return this.#maxRunning();
  }

  /** Resolves when the signal aborts, the runner stops or, with `only`, that task has ended. */
  async run({ signal, ...options }: Partial<RunTasks>): Promise<void> {
    const stop = new AbortController();
    const end = () => stop.abort();
    for (const cause of [signal, this.#stopping.signal]) {
      if (cause?.aborted === true) end();
      cause?.addEventListener("abort", end, { once: true });
    }
    const run = this.pool.run({ ...options, signal: stop.signal });
    this.#runs.add(run);
    try {
      await run;
    } finally {
      this.#runs.delete(run);
      for (const cause of [signal, this.#stopping.signal]) cause?.removeEventListener("abort", end);
    }
  }

  /** Resolves when each running task is queued again for another process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#runs);
  }
}

function openPool(context: ProcessContext, sessions: LiveSessions, maxRunning: () => Promise<number>): Pool {
  const {
    store,
    clock,
    leaseTiming,
    env,
    home,
    claim,
    resolveFolder,
    sweep,
    machine,
    sharedHost: host,
    backends,
    providers,
  } = context;
  const { root = home, repositories, saveMs, maxRunning: maxRunningOnHost } = machine.host;
  const mirrors = {
    root,
    forNewTasks: repositories === "mirror",
    saveMs,
    copyTrust: (repository: string, mirror: string) => copyTrust(repository, mirror, env),
  };
  return new Pool({
    store,
    clock,
    leaseTiming,
    host,
    maxRunningOnHost,
    mirrors: host === undefined ? undefined : mirrors,
    env,
    home,
    claim,
    folder: resolveFolder,
    openSession: (options) => sessions.open(options),
    settleSession: (id) => sessions.settle(id),
    config: async (cwd) => {
      const { withReadyDefault } = await import("../backends/readiness.ts");
      return withReadyDefault(await loadConfig({ cwd, env }), { env, cwd, backends, registered: providers });
    },
    maxRunning,
    labels: [...backends.keys()].map(backendLabel),
    sweep,
  });
}

/** Only the user's configuration file counts, since the limit applies to all repositories. */
function cachedMaxRunning(env: ProcessContext["env"]): () => Promise<number> {
  let cache: { readonly at: number; readonly value: number } | undefined;
  return async () => {
    const now = performance.now();
    if (cache === undefined || now - cache.at > MAX_RUNNING_CACHE_MS) {
      const { maxRunning = DEFAULT_MAX_RUNNING } = await userDefaults(env);
      cache = { at: now, value: maxRunning };
    }
    return cache.value;
  };
}
