/**
 * Work in progress on the remote: each task has one private ref with the newest snapshot of its worktree.
 *
 * Every update names the snapshot that it replaces. A host that takes a task over first replaces the snapshot with a commit
 * of its own, so that the host before it, which may still run, can no longer update the ref.
 */
import { createHash } from "node:crypto";
import { RookeryError } from "../../domain/index.ts";
import { readCommitter, writeCommit } from "../merge/commit-object.ts";
import type { Worktree } from "../record.ts";
import type { Mirror } from "./mirror.ts";
import { snapshotWorktree, type Snapshot, type SnapshotOptions } from "./snapshot.ts";
import { fetchRefs, listRemoteRefs, pushRef, type NetworkOptions } from "./transport.ts";

/** Identifies a task on a remote that several installations may use. */
export interface TaskOnRemote {
  readonly id: string;
  readonly createdAt: string;
}

/** The ref of a task: `refs/rookery/wip/ID-DIGEST`. */
export function workInProgressRef({ id, createdAt }: TaskOnRemote): string {
  const digest = createHash("sha256").update(`${id}\n${createdAt}`).digest("hex").slice(0, 8);
  return `refs/rookery/wip/${id}-${digest}`;
}

export interface SaveResult {
  /**
   * `superseded`: another host has taken the task over, and nothing more can be saved. `unchanged`: the remote has this
   * work already.
   */
  readonly status: "saved" | "unchanged" | "superseded";
  /** The newest snapshot of this worktree on the remote. */
  readonly commit: string;
  readonly omitted: readonly string[];
}

/** Saves the worktree of a task to the remote. One object per run of the task; calls must not overlap. */
export class WorkInProgress {
  readonly #mirror: Mirror;
  readonly #ref: string;
  /** The commit that the ref has on the remote. Undefined until the first save has looked it up. */
  #onRemote: { readonly commit: string | undefined } | undefined;
  #saved: Snapshot | undefined;
  /** Commits of this run that a push with an unknown outcome may have published. */
  readonly #tried = new Set<string>();

  /**
   * `claimed`: the result of `claimWorkInProgress`. Without it, the first save replaces what the ref has then, which is
   * right for a host that had the task before.
   */
  constructor(mirror: Mirror, task: TaskOnRemote, claimed?: string) {
    this.#mirror = mirror;
    this.#ref = workInProgressRef(task);
    if (claimed !== undefined) this.#onRemote = { commit: claimed };
  }

  /** Rejects with `remote_unreachable`, `remote_refused` or `worktree_missing`. */
  async save(worktree: Worktree, options: SnapshotOptions & NetworkOptions): Promise<SaveResult> {
    const { repository, transport } = this.#mirror;
    const snapshot = await snapshotWorktree(worktree, repository, options, this.#saved);
    const { commit, omitted } = snapshot;
    if (commit === this.#saved?.commit) return { status: "unchanged", commit, omitted };
    this.#tried.add(commit);
    this.#onRemote ??= { commit: await this.#readRemote(options) };
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const update = { ref: this.#ref, to: commit, expected: this.#onRemote.commit };
      if ((await pushRef(transport, update, options)) === "pushed") {
        this.#onRemote = { commit };
        this.#saved = snapshot;
        this.#tried.clear();
        return { status: "saved", commit, omitted };
      }
      const now = await this.#readRemote(options);
      if (now === undefined || !this.#tried.has(now)) break;
      this.#onRemote = { commit: now }; // an earlier push reached the remote, but its answer did not reach us
    }
    return { status: "superseded", commit, omitted };
  }

  async #readRemote(options: NetworkOptions): Promise<string | undefined> {
    return (await listRemoteRefs(this.#mirror.transport, [this.#ref], options)).get(this.#ref);
  }
}

const MAX_ATTEMPTS = 5;

/**
 * Fetches the newest snapshot of a task and replaces it on the remote with a copy, which only this host knows. Resolves with
 * undefined if there is none. Rejects with `remote_unreachable`.
 */
export async function claimWorkInProgress(
  mirror: Mirror,
  task: TaskOnRemote,
  { message, ...options }: NetworkOptions & { readonly message: string },
): Promise<string | undefined> {
  const { repository, transport } = mirror;
  const ref = workInProgressRef(task);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const found = (await listRemoteRefs(transport, [ref], options)).get(ref);
    if (found === undefined) return undefined;
    await fetchRefs(transport, [ref], { ...options, objects: transport.objects }); // the mirror may be replaced
    const read = ["log", "--max-count=1", "--no-show-signature", "--format=%T %P", found, "--"];
    const { code, stdout } = await repository.gitTry(read, options);
    if (code !== 0) continue; // the other host has replaced it between the two calls
    const [tree = "", ...parents] = stdout.trim().split(" ");
    const committer = await readCommitter(repository, options.signal);
    const copy = await writeCommit(repository, { tree, parents, committer, message }, options.signal);
    if ((await pushRef(transport, { ref, to: copy, expected: found }, options)) === "pushed") return copy;
  }
  throw new RookeryError(
    "remote_refused",
    `${ref} on ${mirror.url} changed ${MAX_ATTEMPTS} times while this host took the task over; another host still saves to it`,
  );
}

/**
 * Fetches the newest snapshot of a task and leaves it on the remote as it is. Resolves with undefined if there is none.
 * Rejects with `remote_unreachable`.
 */
export async function fetchWorkInProgress(
  { transport }: Mirror,
  task: TaskOnRemote,
  options: NetworkOptions = {},
): Promise<string | undefined> {
  const ref = workInProgressRef(task);
  const found = (await listRemoteRefs(transport, [ref], options)).get(ref);
  if (found !== undefined) await fetchRefs(transport, [ref], { ...options, objects: transport.objects });
  return found;
}

/** Deletes the ref of a task from the remote. Rejects with `remote_unreachable` or `remote_refused`. */
export async function deleteWorkInProgress(
  { transport }: Mirror,
  task: TaskOnRemote,
  options: NetworkOptions = {},
): Promise<void> {
  const ref = workInProgressRef(task);
  const found = (await listRemoteRefs(transport, [ref], options)).get(ref);
  if (found !== undefined) await pushRef(transport, { ref, to: undefined, expected: found }, options);
}
