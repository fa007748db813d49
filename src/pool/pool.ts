/** Starts, runs, lists and merges tasks, whose log all processes share. */
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
  type TaskSpec,
  type TaskState,
  type Tasks,
  type TaskView,
} from "../domain/index.ts";
import { isDriven } from "../session/index.ts";
import {
  countUncommittedFiles,
  readWorktreeDiff,
  findWorktree,
  openMergeRemote,
  predictBranchMerge,
  readBranches,
  type Repository,
  type Worktree,
} from "../worktrees/index.ts";
import { collectTasks, type WithTaskWriter } from "./collect.ts";
import { commitRemainingChanges } from "./commit.ts";
import { endAbandonedTask } from "./end-task.ts";
import { parseTaskId, createTaskId } from "./id.ts";
import { isMerging, mergeTask, resolveMergeTarget, withdrawMerge } from "./merge-task.ts";
import type { PoolParts, TaskRepository } from "./parts.ts";
import { isReachableTask, requireReachable } from "./reach.ts";
import { OpenRepositories } from "./remote/repositories.ts";
import { bringWorktreeHere, isOnAnotherHost, worktreeElsewhere } from "./remote/take-over.ts";
import { readSavedDiff } from "./remote/saved-diff.ts";
import { saveProgress } from "./remote/saver.ts";
import { resolveTaskRemote } from "./remote/task-remote.ts";
import {
  requireTask,
  stampEvents,
  openTaskWriter,
  appendTaskEvent,
  waitForTaskEvent,
  type TaskWriter,
} from "./task-writer.ts";
import { planTask } from "./plan.ts";
import { readTaskQueue, type TaskQueue } from "./queue-reason.ts";
import { removeTask } from "./remove.ts";
import { Scheduler, type RunTasks } from "./scheduler.ts";
import { toTaskView } from "./view.ts";

/** Above this, something is probably creating tasks in a loop. */
const MAX_QUEUED = 100_000;
const STOP_TIMEOUT_MS = 60_000;
/** How often to check whether the process that runs the task has died. */
const STOP_CHECK_MS = 1_000;

type FollowTasks = Parameters<Tasks["follow"]>[0];

const FOLLOW_QUERY = objectArgument({
  task: optionalArgument(textArgument),
  after: optionalArgument(integerArgument),
  signal: optionalArgument(signalArgument),
});

const RUN_OPTIONS = objectArgument({
  only: optionalArgument(textArgument),
  signal: signalArgument,
  drain: optionalArgument(signalArgument),
  maxRunning: optionalArgument(integerArgument),
  placement: optionalArgument(functionArgument),
  onProblem: optionalArgument(functionArgument),
});

function parseTaskName(id: string): string {
  return parseInput(TaskName, id, "the task's id");
}

export class Pool implements Tasks {
  readonly #parts: PoolParts;
  readonly #scheduler: Scheduler;
  readonly #repositories: OpenRepositories;

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#repositories = new OpenRepositories(parts);
    this.#scheduler = new Scheduler(parts, this.#repositories);
  }

  /** Runs queued tasks in this process, within the limits, until the signal aborts or the task `only` has ended. */
  async run(options: RunTasks): Promise<void> {
    checkArgument(options, RUN_OPTIONS, "the options of runTasks");
    return this.#scheduler.run(options);
  }

  async start(given: StartTask): Promise<TaskView> {
    const request = parseInput(StartTaskRequest, given, "the task");
    const { store, clock } = this.#parts;
    const id = request.id === undefined ? createTaskId(request.prompt) : parseTaskId(request.id);
    const repository = await this.#repositories.at(this.#parts.folder(request.cwd ?? "."));
    const planned = planTask(request, repository.root, await this.#parts.config(repository.root));
    await repository.requireIdentity();
    if (planned.base !== undefined) await repository.resolve(planned.base);
    const { host } = this.#parts;
    const remote = await this.#findRemote(repository, planned.base);
    const spec = { ...planned, ...(host !== undefined && { host }), ...remote };
    await this.#checkNeeds(id, spec.needs);
    const events = stampEvents(clock, [{ type: "task.created", spec }]);
    try {
      await store.appendTask({ taskId: id, id: newId("app", clock.now()), expectedHead: 0, events });
    } catch (error) {
      if (!isRookeryError(error, "append_conflict")) throw error;
      throw await this.#taskExists(id);
    }
    this.#scheduler.nudge();
    const uncommitted = planned.base === undefined ? await countUncommittedFiles(repository) : 0;
    return { ...(await this.show(id)), ...(uncommitted > 0 && { uncommitted }) };
  }

  async list(given: ListTasks = {}): Promise<readonly TaskView[]> {
    const { status, cwd, limit = DEFAULT_PAGE, ...query } = parseInput(ListTasksRequest, given, "the query");
    const repository = cwd === undefined ? undefined : (await this.#repositories.at(this.#parts.folder(cwd))).root;
    const phases = status && [...new Set(status.map((each): TaskPhase => (each === "waiting" ? "running" : each)))];
    const found: TaskView[] = [];
    let queue: Promise<TaskQueue> | undefined;
    const readQueue = () => (queue ??= this.#readQueue());
    for (let { before } = query; ;) {
      const states = await this.#parts.store.tasks({ ...query, phases, repository, before, limit });
      for (const state of states) {
        const view = await this.#view(state, readQueue); // one by one: a thousand concurrent reads would delay all other callers
        if (status?.includes(view.status) ?? true) found.push(view); // only its session knows whether a task waits
      }
      before = states.at(-1)?.id;
      if (found.length >= limit || states.length < limit || limit < 1) return found.slice(0, Math.max(limit, 0));
    }
  }

  async show(given: string): Promise<TaskView> {
    const id = parseTaskName(given);
    return this.#view(await requireTask(this.#parts.store, id));
  }

  async stop(given: string, options: { readonly reason?: string | undefined } = {}): Promise<TaskView> {
    const id = parseTaskName(given);
    const { reason } = parseInput(StopTaskRequest, options, "the stop");
    const { store, clock, leaseTiming } = this.#parts;
    const before = await requireTask(store, id);
    if (isEnded(before)) throw new RookeryError("task_state", `task ${id} has already ended: it is ${before.phase}`);
    await appendTaskEvent({ store, clock }, id, { type: "task.stop_asked", ...(reason !== undefined && { reason }) });
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    for (;;) {
      await this.#scheduler.stop(id);
      const state = await requireTask(store, id);
      if (isEnded(state)) return this.#view(state);
      if (!(await isDriven(store, id, clock, leaseTiming)) && (await this.#end(id))) continue;
      if (performance.now() > deadline) {
        throw new RookeryError(
          "task_state",
          `task ${id} did not stop within 60 s; look at it with \`rookery task show ${id}\``,
        );
      }
      await waitForTaskEvent(store, state, STOP_CHECK_MS);
    }
  }

  async resume(given: string, options: ResumeTask = {}): Promise<TaskView> {
    const id = parseTaskName(given);
    const { prompt, budget } = parseInput(ResumeTaskRequest, options, "the resumption");
    await this.#withWriter(id, async (writer) => {
      const { state } = writer;
      if (state.removed) throw new RookeryError("task_state", `task ${id} was removed; start a new task`);
      if (!isEnded(state)) throw new RookeryError("task_state", `task ${id} has not ended; it is ${state.phase}`);
      if (state.phase === "done" && prompt === undefined) {
        const fix = `say what the agent has to do next: rookery task resume ${id} "PROMPT"`;
        throw new RookeryError("input_invalid", `task ${id} is done, so there is nothing to continue; ${fix}`);
      }
      if (isMerging(state)) {
        const isHere = isReachableTask(state, this.#parts.host);
        const opened = isHere ? await this.#repositories.of(state.spec) : undefined;
        await withdrawMerge(writer, opened, "the task was resumed");
      }
      const said = { ...(prompt !== undefined && { prompt }), ...(budget !== undefined && { budget }) };
      await writer.write({ type: "task.queued", why: "resumed", ...said });
    });
    this.#scheduler.nudge();
    return this.show(id);
  }

  async diff(given: string, options: { readonly patch?: boolean | undefined } = {}): Promise<TaskDiff> {
    const id = parseTaskName(given);
    const { patch = true } = parseInput(DiffTaskRequest, options, "the options of the diff");
    const state = await requireTask(this.#parts.store, id);
    if (isOnAnotherHost(state, this.#parts.host)) {
      return readSavedDiff(state, await this.#repositories.of(state.spec), { patch });
    }
    const { repository, worktree } = await this.#locate(state);
    return readWorktreeDiff(worktree, repository, { patch });
  }

  async predictMerge(name: string, given: MergeTask = {}): Promise<MergeReport> {
    const id = parseTaskName(name);
    const options = parseInput(MergeTaskRequest, given, "the merge");
    const state = await this.#bringHere(await requireTask(this.#parts.store, id));
    const { worktree, ...opened } = await this.#locate(state);
    const { how, into } = await this.#mergeSettings(opened, state, options);
    const target = opened.mirror && openMergeRemote(opened.mirror, into);
    await target?.refresh();
    return predictBranchMerge(opened.repository, { branch: worktree.branch, into, how, intoRef: target?.ref });
  }

  async merge(name: string, given: MergeTask = {}): Promise<MergeReport> {
    const id = parseTaskName(name);
    const options = parseInput(MergeTaskRequest, given, "the merge");
    const parts = this.#parts;
    return this.#withWriter(id, async (writer) => {
      const { state } = writer;
      if (!isEnded(state)) {
        throw new RookeryError("task_state", `task ${id} is ${state.phase}; wait until it ends, or stop it first`);
      }
      const signal = writer.lost;
      await bringWorktreeHere({ parts, writer, ...(await this.#repositories.of(state.spec)), signal });
      const { worktree, ...opened } = await this.#locate(writer.state);
      const { repository, mirror } = opened;
      const wanted = await this.#mergeSettings(opened, state, options);
      const intoRef = mirror && openMergeRemote(mirror, wanted.into).ref;
      await readBranches(repository, { branch: worktree.branch, into: wanted.into, intoRef }); // a wrong name leaves no trace
      await commitRemainingChanges({ parts, writer, repository, worktree });
      if (mirror !== undefined) await saveProgress({ parts, writer, mirror, worktree }); // another host may have to finish the merge
      return mergeTask({ parts, writer, ...opened, signal, unreachable: "reject" }, wanted);
    });
  }

  async remove(given: string, options: { readonly force?: boolean | undefined } = {}): Promise<RemovedTask> {
    const id = parseTaskName(given);
    const { force = false } = parseInput(RemoveTaskRequest, options, "the removal");
    const state = await requireTask(this.#parts.store, id);
    requireReachable(state, this.#parts.host);
    if (!force && !state.removed) await this.#bringHere(state); // to see whether work would be lost
    return this.#withWriter(id, (writer) => removeTask(this.#parts, this.#repositories, writer, force));
  }

  async collect(given: CollectTasks = {}): Promise<CollectReport> {
    const options = parseInput(CollectTasksRequest, given, "the collection");
    const withWriter: WithTaskWriter = async (id, work) =>
      (await this.#parts.store.task(id)) === undefined ? work(undefined) : this.#withWriter(id, work);
    return collectTasks(this.#parts, this.#repositories, withWriter, options);
  }

  follow(query: FollowTasks): AsyncIterable<FeedEvent> {
    checkArgument(query, FOLLOW_QUERY, "the query");
    return this.#follow(query);
  }

  async *#follow(query: FollowTasks): AsyncGenerator<FeedEvent> {
    const { task, after = 0, signal } = query;
    if (task !== undefined) await requireTask(this.#parts.store, task);
    for await (const page of this.#parts.store.followFeed({ task, after, signal })) {
      for (const { position, text } of page) yield { position, event: JSON.parse(text) as LogEvent };
    }
  }

  #view(state: TaskState, readQueue = () => this.#readQueue()): Promise<TaskView> {
    return toTaskView(this.#parts.store, this.#parts.clock, state, readQueue);
  }

  async #readQueue(): Promise<TaskQueue> {
    const { store, clock, host } = this.#parts;
    return readTaskQueue(store, { maxRunning: await this.#parts.maxRunning(), now: clock.now(), host });
  }

  /** Resolves with undefined if only this host can run the task. Rejects with `base_not_found` if commits are not pushed. */
  async #findRemote(
    repository: Repository,
    base: string | undefined,
  ): Promise<Pick<TaskSpec, "remote" | "base"> | undefined> {
    if (this.#parts.mirrors?.forNewTasks !== true) return undefined;
    const found = await resolveTaskRemote(repository, base);
    return found && { remote: found.url, base: found.base };
  }

  /** Restores the worktree of an ended task here if another host has it. Resolves with the state after that. */
  async #bringHere(state: TaskState): Promise<TaskState> {
    if (!isEnded(state) || !isOnAnotherHost(state, this.#parts.host)) return state;
    return this.#withWriter(state.id, async (writer) => {
      const opened = await this.#repositories.of(state.spec);
      await bringWorktreeHere({ parts: this.#parts, writer, ...opened, signal: writer.lost });
      return writer.state;
    });
  }

  async #locate(state: TaskState): Promise<TaskRepository & { readonly worktree: Worktree }> {
    const { id, spec, worktree: known } = state;
    if (known === undefined || known.removed) {
      const why = known === undefined ? `task ${id} has no worktree yet` : `the worktree of task ${id} was removed`;
      throw new RookeryError("worktree_missing", why);
    }
    requireReachable(state, this.#parts.host);
    if (isOnAnotherHost(state, this.#parts.host)) throw worktreeElsewhere(state);
    const opened = await this.#repositories.of(spec);
    const worktree = await findWorktree(opened.repository, id);
    if (worktree === undefined) {
      const fix = `\`rookery task resume ${id}\` creates it again from branch ${known.branch}`;
      throw new RookeryError(
        "worktree_missing",
        `the worktree of task ${id} no longer exists at ${known.path}; ${fix}`,
      );
    }
    return { ...opened, worktree: { ...worktree, base: known.base, baseCommit: known.baseCommit } };
  }

  async #mergeSettings(opened: TaskRepository, state: TaskState, { how, into, gate, message }: MergeTask) {
    const config = await this.#parts.config(opened.repository.root);
    return {
      how: how ?? config.merge.how,
      into: await resolveMergeTarget(opened, state, into),
      gate: gate === false ? undefined : (gate ?? config.merge.gate),
      message,
    };
  }

  async #withWriter<T>(id: string, work: (writer: TaskWriter) => Promise<T>): Promise<T> {
    await using writer = await openTaskWriter({ ...this.#parts, owner: this.#parts.claim() }, id);
    return await work(writer);
  }

  /** Ends a task that no process runs. Resolves with false if another process took the task first. */
  async #end(id: string): Promise<boolean> {
    try {
      await this.#withWriter(id, async (writer) => {
        if (isEnded(writer.state)) return;
        await endAbandonedTask({ parts: this.#parts, repositories: this.#repositories, writer });
      });
      return true;
    } catch (error) {
      if (isRookeryError(error, "task_state")) return false;
      throw error;
    }
  }

  async #checkNeeds(id: string, needs: readonly string[]): Promise<void> {
    const { store } = this.#parts;
    for (const needed of needs) {
      if (needed === id) throw new RookeryError("input_invalid", `task ${id} cannot need itself`);
      const state = await requireTask(store, parseTaskId(needed));
      if (state.removed) throw new RookeryError("task_state", `task ${needed} was removed, so it will never be done`);
    }
    const { queued } = await store.countTasks();
    if (queued < MAX_QUEUED) return;
    throw new RookeryError(
      "task_state",
      `${queued} tasks are queued, which is the limit; wait until some are done, or stop some`,
    );
  }

  async #taskExists(id: string): Promise<RookeryError> {
    const { status, agent, sessions, removed, worktree } = await this.show(id);
    const session = sessions.at(-1)?.id;
    const what = removed
      ? "was removed, and an id cannot be reused"
      : `is ${status}: agent ${agent}${session === undefined ? "" : `, session ${session}`}${worktree === undefined ? "" : `, in ${worktree.path}`}`;
    const way = isEndedStatus(status)
      ? `continue it with rookery task resume ${id}${status === "done" ? ' "PROMPT"' : ""}`
      : `follow it with rookery task logs -f ${id}`;
    const fix = removed ? "choose another id" : `${way}, or choose another id`;
    return new RookeryError("task_exists", `task ${id} already exists and ${what}; ${fix}`);
  }
}
