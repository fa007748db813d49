/** Runs a worker in this process, and lists and asks the workers of all hosts. */
import { loadConfig } from "../config/index.ts";
import { backendLabel } from "../domain/backend-name.ts";
import {
  buildWorkerViews,
  MAX_PAGE,
  RookeryError,
  type WorkerKind,
  type WorkerRequest,
  type WorkerView,
} from "../domain/index.ts";
import { Worker, type AgentReadiness } from "../pool/worker.ts";
import { machinePidScope, ownPidScope, waitForAbort } from "../stdx/index.ts";
import { deliverHostInputs } from "./host-inputs.ts";
import type { LiveSessions } from "./live-sessions.ts";
import type { PoolRunner } from "./pool-runner.ts";
import type { ProcessContext } from "./process-context.ts";

export interface RunWorkerOptions {
  /** Default: `worker`. */
  readonly kind?: WorkerKind | undefined;
  /** The version of the program, for lists. */
  readonly version: string;
  /** How many tasks it runs at once; 0 for none. Default: `[worker] max_running`, or the limit of all processes. */
  readonly maxRunning?: number | undefined;
  /** In addition to `[worker] labels`. */
  readonly labels?: readonly string[] | undefined;
  /** Takes only tasks of these agents. Default: `[worker] agents`, or all. */
  readonly agents?: readonly string[] | undefined;
  /** Ends the worker. */
  readonly signal: AbortSignal;
  /** How long running tasks may continue after the signal before they are queued again, in milliseconds. Default: 0. */
  readonly drainTimeoutMs?: number | undefined;
  /** Called when the worker is registered. */
  readonly onStarted?: ((worker: { readonly id: string; readonly host: string }) => void) | undefined;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

interface DeliveryOptions {
  readonly signal: AbortSignal;
  readonly drain: AbortSignal;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** Why a worker ended: a signal of its process, or a request of an operator. */
export type WorkerEnd = "signal" | "drained" | "stopped";

export class WorkerRunner {
  readonly #context: ProcessContext;
  readonly #sessions: LiveSessions;
  readonly #runner: PoolRunner;
  readonly #runs = new Set<Promise<unknown>>();

  constructor(context: ProcessContext, sessions: LiveSessions, runner: PoolRunner) {
    this.#context = context;
    this.#sessions = sessions;
    this.#runner = runner;
  }

  /** Resolves when all workers of this process have removed or marked their records. */
  async closed(): Promise<void> {
    await Promise.allSettled(this.#runs);
  }

  /** Rejects with `host_in_use`, or with a `store_*` error. */
  async run(options: RunWorkerOptions): Promise<WorkerEnd> {
    const run = this.#run(options);
    this.#runs.add(run);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  async #run(options: RunWorkerOptions): Promise<WorkerEnd> {
    const { signal, onProblem, drainTimeoutMs = 0 } = options;
    const { host, worker: config } = this.#context.machine;
    const wanted = options.maxRunning ?? config.maxRunning ?? (await this.#runner.maxRunning());
    const maxRunning = Math.min(wanted, host.maxRunning ?? wanted);
    await using worker = await this.#register({ ...options, maxRunning });
    options.onStarted?.({ id: worker.id, host: host.id });
    const stop = new AbortController();
    const end = (): void => stop.abort();
    for (const cause of [worker.stopping, this.#runner.stopping]) {
      cause.addEventListener("abort", end, { once: true });
      if (cause.aborted) end();
    }
    const drainFirst = (): void => {
      if (drainTimeoutMs === 0) return end();
      worker.drain();
      setTimeout(end, drainTimeoutMs).unref();
    };
    signal.addEventListener("abort", drainFirst, { once: true });
    if (signal.aborted) drainFirst();
    const inputs = this.#deliverInputs({ signal: stop.signal, drain: worker.draining, onProblem });
    try {
      const run = { signal: stop.signal, drain: worker.draining, maxRunning, placement: () => worker.rules, onProblem };
      if (maxRunning > 0) await this.#runner.run(run);
      else await Promise.race([stop.signal, worker.draining].map(waitForAbort));
      if (worker.draining.aborted) await inputs; // its turns finish too, unless the worker is stopped meanwhile
    } finally {
      signal.removeEventListener("abort", drainFirst);
      this.#runner.stopping.removeEventListener("abort", end);
      end();
      await inputs;
    }
    if (signal.aborted) return "signal";
    return worker.stopping.aborted ? "stopped" : worker.draining.aborted ? "drained" : "signal";
  }

  async list(): Promise<WorkerView[]> {
    const { store, clock } = this.#context;
    const [workers, busy] = await Promise.all([
      store.workers(),
      store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE }),
    ]);
    return buildWorkerViews(workers, busy, clock.now());
  }

  /** Rejects with `worker_not_found` if no living worker has this ID or host. */
  async ask(target: string, request: WorkerRequest): Promise<WorkerView[]> {
    const { store } = this.#context;
    const isMeant = ({ id, host }: WorkerView) => id === target || host === target;
    const all = await this.list();
    const meant = all.filter((worker) => isMeant(worker) && worker.status !== "lost" && worker.status !== "stopped");
    if (meant.length === 0) {
      const lost = all.some(isMeant) ? ` that is alive` : "";
      const fix = "`rookery workers` lists all of them";
      throw new RookeryError("worker_not_found", `there is no worker or host ${target}${lost}; ${fix}`);
    }
    for (const { id } of meant) await store.askWorker(id, request);
    const asked = new Set(meant.map(({ id }) => id));
    return (await this.list()).filter(({ id }) => asked.has(id));
  }

  /** With a shared store, other hosts queue inputs for sessions of this one. */
  async #deliverInputs({ signal, drain, onProblem = () => undefined }: DeliveryOptions): Promise<void> {
    const { store, clock, leaseTiming, sharedHost: host } = this.#context;
    if (host === undefined) return;
    const openSession = (id: string) => this.#sessions.open({ id, attended: true });
    await deliverHostInputs({ store, clock, leaseTiming, host, openSession, signal, drain, onProblem });
  }

  #register(options: RunWorkerOptions & { readonly maxRunning: number }): Promise<Worker> {
    const { store, clock, leaseTiming, machine, sharedHost, claim, backends } = this.#context;
    const { host, worker: config } = machine;
    const parts = {
      store,
      clock,
      leaseTiming,
      readAgents: () => readAgents(this.#context),
      countSessions: () => this.#sessions.count,
    };
    return Worker.register(parts, {
      kind: options.kind ?? "worker",
      host: host.id,
      isShared: sharedHost !== undefined,
      scope: host.isDeclared ? ownPidScope(host.id) : machinePidScope(),
      owner: claim(),
      version: options.version,
      labels: [...new Set([...config.labels, ...(options.labels ?? []), ...[...backends.keys()].map(backendLabel)])],
      agents: options.agents ?? config.agents,
      mirrors: host.repositories === "mirror",
      maxRunning: options.maxRunning,
      preferLastHostMs: config.preferLastHostMs,
      onProblem: options.onProblem,
    });
  }
}

/** Checks the agents of the user's configuration. Repositories may configure more. */
async function readAgents({ env, home, backends, providers: registered }: ProcessContext): Promise<AgentReadiness> {
  const { checkReadiness } = await import("../backends/readiness.ts");
  const config = await loadConfig({ cwd: home, env, trust: "leave_out" });
  const here = { env, cwd: home, providers: config.providers, registered, backends };
  const ready: string[] = [];
  const unready: string[] = [];
  for (const agent of config.agents.values()) (checkReadiness(agent, here).ready ? ready : unready).push(agent.name);
  return { ready, unready };
}
