/** Saves the worktree of a running task to the remote: before each stage ends, at the end of the run, and on a timer. */
import { isRookeryError, messageOf } from "../../domain/index.ts";
import { WorkInProgress, type Worktree } from "../../worktrees/index.ts";
import type { PoolParts, TaskMirror } from "../parts.ts";
import type { TaskWriter } from "../task-writer.ts";

/**
 * How long a stage waits for an unreachable remote. The end of a run waits less, because the process may be stopping.
 */
const TIMEOUT_MS = 30_000;
const LAST_TIMEOUT_MS = 10_000;
const MAX_NAMED = 5;

export interface SaverOptions {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly mirror: TaskMirror;
  readonly worktree: Worktree;
  /** The snapshot with which this host took the task over. */
  readonly claimed?: string | undefined;
}

/** Saves the worktree of a task that does not run. Waits at most 10 s. Never rejects: the log says why it failed. */
export async function saveProgress(options: SaverOptions): Promise<void> {
  const saver = new ProgressSaver(options);
  await saver[Symbol.asyncDispose]();
}

export class ProgressSaver implements AsyncDisposable {
  readonly #options: SaverOptions;
  readonly #progress: WorkInProgress;
  readonly #timer: NodeJS.Timeout;
  #last: Promise<void> = Promise.resolve();
  #isSaving = false;
  #isSuperseded = false;
  /** Problems that are already in the log, so that each is recorded once. */
  #problem = "";
  #omitted = "";

  constructor(options: SaverOptions) {
    const { parts, writer, mirror, claimed } = options;
    const { id, createdAt } = writer.state;
    this.#options = options;
    this.#progress = new WorkInProgress(mirror, { id, createdAt }, claimed);
    this.#timer = setInterval(() => {
      if (!this.#isSaving) void this.save();
    }, parts.mirrors?.saveMs).unref();
  }

  /** Resolves when the remote has the current work, or the log says why not. Never rejects. */
  save(timeoutMs = TIMEOUT_MS): Promise<void> {
    this.#last = this.#last.then(() => this.#saveNow(timeoutMs));
    return this.#last;
  }

  /** Saves once more, unless another process has taken the task. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.save(LAST_TIMEOUT_MS);
  }

  async #saveNow(timeoutMs: number): Promise<void> {
    const { parts, writer, worktree } = this.#options;
    if (this.#isSuperseded || writer.lost.aborted) return;
    this.#isSaving = true;
    try {
      const { id, worktree: known } = writer.state;
      const message = `Work in progress of task ${id} on ${parts.host ?? "this host"}\n`;
      const how = { message, exclude: known?.copied, timeoutMs, signal: writer.lost };
      const { status, commit, omitted } = await this.#progress.save(worktree, how);
      if (status === "superseded") await this.#stop();
      if (status === "saved") {
        await writer.write({ type: "worktree.saved", commit, ...(parts.host !== undefined && { host: parts.host }) });
        await this.#noteRecovery();
      }
      if (status !== "superseded") await this.#noteOmitted(omitted);
    } catch (error) {
      await this.#noteProblem(error).catch(() => undefined); // the run fails too if the log cannot be written
    } finally {
      this.#isSaving = false;
    }
  }

  async #stop(): Promise<void> {
    this.#isSuperseded = true;
    clearInterval(this.#timer);
    const message = "work in progress is no longer saved from this host, because another one has taken the task over";
    await this.#options.writer.write({ type: "notice", level: "warning", code: "lease_lost", message });
  }

  async #noteProblem(error: unknown): Promise<void> {
    const { writer } = this.#options;
    if (writer.lost.aborted) return;
    const code = isRookeryError(error) ? error.code : "internal";
    if (this.#problem === code) return;
    this.#problem = code;
    const message = `work in progress could not be saved, so it is only on this host: ${messageOf(error)}`;
    await writer.write({ type: "notice", level: "warning", code, message });
  }

  async #noteRecovery(): Promise<void> {
    if (this.#problem === "") return;
    this.#problem = "";
    const message = "work in progress is saved on the remote again";
    await this.#options.writer.write({ type: "notice", level: "info", code: "saved", message });
  }

  async #noteOmitted(omitted: readonly string[]): Promise<void> {
    const named = omitted.slice(0, MAX_NAMED).join(", ");
    if (named === this.#omitted) return;
    this.#omitted = named;
    if (named === "") return;
    const more = omitted.length > MAX_NAMED ? ` and ${omitted.length - MAX_NAMED} more` : "";
    const message = `these files stay on this host, because they are not part of saved work in progress: ${named}${more}`;
    await this.#options.writer.write({ type: "notice", level: "warning", code: "input_too_large", message });
  }
}
