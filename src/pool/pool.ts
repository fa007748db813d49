/** Tasks of this machine: given, queued, run and looked at, in a log that every process shares. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  CollectTasksRequest,
  DEFAULT_PAGE,
  DiffTaskRequest,
  ListTasksRequest,
  MergeTaskRequest,
  RemoveTaskRequest,
  ResumeTaskRequest,
  StartTaskRequest,
  StopTaskRequest,
  TaskName,
  checkArgument,
  functionArgument,
  integerArgument,
  isEnded,
  isEndedStatus,
  isRookeryError,
  newId,
  objectArgument,
  optionalArgument,
  parseInput,
  RookeryError,
  signalArgument,
  textArgument,
  type CollectReport,
  type CollectTasks,
  type FeedEvent,
  type ListTasks,
  type LogEvent,
  type MergeReport,
  type MergeTask,
  type RemovedTask,
  type ResumeTask,
  type StartTask,
  type TaskDiff,
  type TaskPhase,
  type TaskState,
  type Tasks,
  type TaskView,
} from "../domain/index.ts";
import { isDriven } from "../session/index.ts";
import { diffOf, findWorktree, openRepository, predict, type Repository, type Worktree } from "../worktrees/index.ts";
import { collectTasks, type WithPen } from "./collecting.ts";
import { gitVariables } from "./command-environment.ts";
import { commitLeft } from "./commit.ts";
import { endLeft } from "./ending.ts";
import { checkId, idFor } from "./id.ts";
import { isMerging, mergeTask, targetOf, withdrawMerge } from "./merging.ts";
import type { PoolParts } from "./parts.ts";
import { mustBeThere, stamped, takePen, writeFromOutside, type Pen } from "./pen.ts";
import { plan } from "./plan.ts";
import { removeTask } from "./removing.ts";
import { Scheduler, type RunTasks } from "./scheduler.ts";
import { viewOf } from "./view.ts";

/** More than anyone can look at: past this something gives tasks in a circle. */
const MAX_QUEUED = 100_000;
const STOP_MS = 60_000;
const LOOK_MS = 50;

type FollowTasks = Parameters<Tasks["follow"]>[0];

const FOLLOW_QUERY = objectArgument({
  task: optionalArgument(textArgument),
  after: optionalArgument(integerArgument),
  signal: optionalArgument(signalArgument),
});

const RUN_OPTIONS = objectArgument({
  only: optionalArgument(textArgument),
  signal: signalArgument,
  onProblem: optionalArgument(functionArgument),
});

function parseName(id: string): string {
  return parseInput(TaskName, id, "the task's id");
}

export class Pool implements Tasks {
  readonly #parts: PoolParts;
  readonly #scheduler: Scheduler;
  readonly #repositories = new Map<string, Promise<Repository>>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#scheduler = new Scheduler(parts, (cwd) => this.#repository(cwd));
  }

  /** Runs what is queued, by this process and within the limits, until the signal fires or the one named has ended. */
  async run(options: RunTasks): Promise<void> {
    checkArgument(options, RUN_OPTIONS, "the options of runTasks");
    return this.#scheduler.run(options);
  }

  async start(given: StartTask): Promise<TaskView> {
    const request = parseInput(StartTaskRequest, given, "the task");
    const { store, clock } = this.#parts;
    const id = request.id === undefined ? idFor(request.prompt) : checkId(request.id);
    const repository = await this.#repository(this.#parts.folder(request.cwd ?? "."));
    const spec = plan(request, repository.root, await this.#parts.config(repository.root));
    await repository.identity();
    if (spec.base !== undefined) await repository.resolve(spec.base);
    await this.#refuseUnmeetable(id, spec.needs);
    const events = stamped(clock, [{ type: "task.created", spec }]);
    try {
      await store.appendTask({ taskId: id, id: newId("app", clock.now()), expectedHead: 0, events });
    } catch (error) {
      if (!isRookeryError(error, "append_conflict")) throw error;
      throw await this.#exists(id);
    }
    this.#scheduler.nudge();
    return this.show(id);
  }

  async list(given: ListTasks = {}): Promise<readonly TaskView[]> {
    const { status, cwd, limit = DEFAULT_PAGE, ...query } = parseInput(ListTasksRequest, given, "the query");
    const repository = cwd === undefined ? undefined : (await this.#repository(this.#parts.folder(cwd))).root;
    const phases = status && [...new Set(status.map((each): TaskPhase => (each === "waiting" ? "running" : each)))];
    const found: TaskView[] = [];
    for (let { before } = query; ;) {
      const states = await this.#parts.store.tasks({ ...query, phases, repository, before, limit });
      for (const state of states) {
        const view = await this.#view(state); // one by one: a thousand reads at once would go before everybody else's
        if (status?.includes(view.status) ?? true) found.push(view); // whether one waits, its session says
      }
      before = states.at(-1)?.id;
      if (found.length >= limit || states.length < limit || limit < 1) return found.slice(0, Math.max(limit, 0));
    }
  }

  async show(given: string): Promise<TaskView> {
    const id = parseName(given);
    return this.#view(await mustBeThere(this.#parts.store, id));
  }

  async stop(given: string, options: { readonly reason?: string | undefined } = {}): Promise<TaskView> {
    const id = parseName(given);
    const { reason } = parseInput(StopTaskRequest, options, "the stop");
    const { store, clock, leaseTiming } = this.#parts;
    const before = await mustBeThere(store, id);
    if (isEnded(before)) throw new RookeryError("task_state", `task ${id} runs no more: it is ${before.phase}`);
    await writeFromOutside({ store, clock }, id, { type: "task.stop_asked", ...(reason !== undefined && { reason }) });
    const deadline = performance.now() + STOP_MS;
    for (;;) {
      await this.#scheduler.stop(id);
      const state = await mustBeThere(store, id);
      if (isEnded(state)) return this.#view(state);
      if (!(await isDriven(store, id, clock, leaseTiming)) && (await this.#end(id))) continue;
      if (performance.now() > deadline) {
        throw new RookeryError("task_state", `task ${id} did not stop within a minute: \`rookery task show ${id}\``);
      }
      await sleep(LOOK_MS);
    }
  }

  async resume(given: string, options: ResumeTask = {}): Promise<TaskView> {
    const id = parseName(given);
    const { prompt, budget } = parseInput(ResumeTaskRequest, options, "the resumption");
    await this.#withPen(id, async (pen) => {
      const { state } = pen;
      if (state.removed) throw new RookeryError("task_state", `task ${id} was removed: start another`);
      if (!isEnded(state)) throw new RookeryError("task_state", `task ${id} has not ended: it is ${state.phase}`);
      if (isMerging(state)) await withdrawMerge(pen, await this.#repository(state.spec.repository), "it was resumed");
      const said = { ...(prompt !== undefined && { prompt }), ...(budget !== undefined && { budget }) };
      await pen.write({ type: "task.queued", why: "resumed", ...said });
    });
    this.#scheduler.nudge();
    return this.show(id);
  }

  async diff(given: string, options: { readonly patch?: boolean | undefined } = {}): Promise<TaskDiff> {
    const id = parseName(given);
    const { patch = true } = parseInput(DiffTaskRequest, options, "the options of the diff");
    const { repository, worktree } = await this.#place(await mustBeThere(this.#parts.store, id));
    return diffOf(worktree, repository, { patch });
  }

  async predictMerge(name: string, given: MergeTask = {}): Promise<MergeReport> {
    const id = parseName(name);
    const options = parseInput(MergeTaskRequest, given, "the merge");
    const state = await mustBeThere(this.#parts.store, id);
    const { repository, worktree } = await this.#place(state);
    const { how, into } = await this.#merging(repository, state, options);
    return predict(repository, { branch: worktree.branch, into, how });
  }

  async merge(name: string, given: MergeTask = {}): Promise<MergeReport> {
    const id = parseName(name);
    const options = parseInput(MergeTaskRequest, given, "the merge");
    const parts = this.#parts;
    return this.#withPen(id, async (pen) => {
      const { state } = pen;
      if (!isEnded(state)) {
        throw new RookeryError("task_state", `task ${id} is ${state.phase}: wait for its end, or stop it first`);
      }
      const { repository, worktree } = await this.#place(state);
      const wanted = await this.#merging(repository, state, options);
      await commitLeft({ parts, pen, repository, worktree });
      return mergeTask({ parts, pen, repository, signal: pen.lost }, wanted);
    });
  }

  async remove(given: string, options: { readonly force?: boolean | undefined } = {}): Promise<RemovedTask> {
    const id = parseName(given);
    const { force = false } = parseInput(RemoveTaskRequest, options, "the removal");
    return this.#withPen(id, (pen) => removeTask(this.#parts, (cwd) => this.#repository(cwd), pen, force));
  }

  async collect(given: CollectTasks = {}): Promise<CollectReport> {
    const options = parseInput(CollectTasksRequest, given, "the collection");
    const withPen: WithPen = async (id, work) =>
      (await this.#parts.store.task(id)) === undefined ? work(undefined) : this.#withPen(id, work);
    return collectTasks(this.#parts, (cwd) => this.#repository(cwd), withPen, options);
  }

  follow(query: FollowTasks): AsyncIterable<FeedEvent> {
    checkArgument(query, FOLLOW_QUERY, "the query");
    return this.#follow(query);
  }

  async *#follow(query: FollowTasks): AsyncGenerator<FeedEvent> {
    const { task, after = 0, signal } = query;
    if (task !== undefined) await mustBeThere(this.#parts.store, task);
    for await (const page of this.#parts.store.followFeed({ task, after, signal })) {
      for (const { position, text } of page) yield { position, event: JSON.parse(text) as LogEvent };
    }
  }

  #view(state: TaskState): Promise<TaskView> {
    return viewOf(this.#parts.store, this.#parts.clock, state);
  }

  /** By any folder of it; opened once. */
  async #repository(cwd: string): Promise<Repository> {
    const known = this.#repositories.get(cwd);
    if (known !== undefined) return known;
    const env = await gitVariables(this.#parts, cwd);
    const opened = openRepository(cwd, { env, marker: this.#parts.claim() });
    const { root } = await opened;
    const first = this.#repositories.get(root) ?? opened;
    this.#repositories.set(root, first);
    return first;
  }

  async #place(state: TaskState): Promise<{ readonly repository: Repository; readonly worktree: Worktree }> {
    const { id, spec, worktree: known } = state;
    if (known === undefined || known.removed) {
      const why = known === undefined ? `task ${id} has no worktree yet` : `the worktree of task ${id} was removed`;
      throw new RookeryError("worktree_missing", why);
    }
    const repository = await this.#repository(spec.repository);
    const worktree = await findWorktree(repository, id);
    if (worktree === undefined) {
      const fix = `its branch is ${known.branch}; \`rookery task resume ${id}\` makes it anew`;
      throw new RookeryError("worktree_missing", `the worktree of task ${id} is gone from ${known.path}: ${fix}`);
    }
    return { repository, worktree: { ...worktree, base: known.base, baseCommit: known.baseCommit } };
  }

  async #merging(repository: Repository, state: TaskState, { how, into, gate, message }: MergeTask) {
    const config = await this.#parts.config(repository.root);
    return {
      how: how ?? config.merge.how,
      into: await targetOf(repository, state, into),
      gate: gate === false ? undefined : (gate ?? config.merge.gate),
      message,
    };
  }

  async #withPen<T>(id: string, work: (pen: Pen) => Promise<T>): Promise<T> {
    await using pen = await takePen({ ...this.#parts, owner: this.#parts.claim() }, id);
    return await work(pen);
  }

  /** Nobody has it: whoever wants it stopped ends it. False where someone was faster. */
  async #end(id: string): Promise<boolean> {
    try {
      await this.#withPen(id, async (pen) => {
        if (isEnded(pen.state)) return;
        await endLeft({ parts: this.#parts, repositories: (cwd) => this.#repository(cwd), pen });
      });
      return true;
    } catch (error) {
      if (isRookeryError(error, "task_state")) return false;
      throw error;
    }
  }

  async #refuseUnmeetable(id: string, needs: readonly string[]): Promise<void> {
    const { store } = this.#parts;
    for (const needed of needs) {
      if (needed === id) throw new RookeryError("input_invalid", `task ${id} cannot need itself`);
      const state = await mustBeThere(store, checkId(needed));
      if (state.removed) throw new RookeryError("task_state", `task ${needed} was removed: it will never be done`);
    }
    const { queued } = await store.countTasks();
    if (queued < MAX_QUEUED) return;
    throw new RookeryError("task_state", `${queued} tasks are queued: wait for some to be done, or stop some`);
  }

  async #exists(id: string): Promise<RookeryError> {
    const { status, agent, sessions, removed, worktree } = await this.show(id);
    const session = sessions.at(-1)?.id;
    const what = removed
      ? "was removed, and its id stays its own"
      : `is ${status}: agent ${agent}${session === undefined ? "" : `, session ${session}`}${worktree === undefined ? "" : `, in ${worktree.path}`}`;
    const way = isEndedStatus(status)
      ? `go on with it by rookery task resume ${id}`
      : `follow it with rookery task logs -f ${id}`;
    const fix = removed ? "choose another id" : `${way}, or choose another id`;
    return new RookeryError("task_exists", `there is a task ${id} already, which ${what}; ${fix}`);
  }
}
