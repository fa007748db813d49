/** Opens the repositories of tasks: the user's, or the mirror of a remote. Opens each only once, because its locks are shared. */
import { RookeryError } from "../../domain/index.ts";
import { openMirror, openRepository, type Mirror, type Repository } from "../../worktrees/index.ts";
import { gitVariables } from "../command-environment.ts";
import type { PoolParts, Repositories, RepositorySpec, TaskMirror, TaskRepository } from "../parts.ts";

export class OpenRepositories implements Repositories {
  readonly #parts: PoolParts;
  readonly #repositories = new Map<string, Promise<Repository>>();
  readonly #mirrors = new Map<string, Promise<TaskMirror>>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  async at(cwd: string): Promise<Repository> {
    const known = this.#repositories.get(cwd);
    if (known !== undefined) return known;
    const env = await gitVariables(this.#parts, cwd);
    const opened = openRepository(cwd, { env, marker: this.#parts.claim() });
    const { root } = await opened;
    const first = this.#repositories.get(root) ?? opened;
    this.#repositories.set(root, first);
    return first;
  }

  async of({ repository, remote }: RepositorySpec): Promise<TaskRepository> {
    if (remote === undefined) return { repository: await this.at(repository) };
    const known = this.#mirrors.get(remote) ?? this.#open(remote);
    this.#mirrors.set(remote, known);
    try {
      const mirror = await known;
      return { repository: mirror.repository, mirror };
    } catch (error) {
      if (this.#mirrors.get(remote) === known) this.#mirrors.delete(remote);
      throw error;
    }
  }

  async #open(url: string): Promise<TaskMirror> {
    const { mirrors, home } = this.#parts;
    if (mirrors === undefined) {
      const fix = "run it with a process that shares the database of all hosts: set store.url";
      throw new RookeryError("repository_missing", `this task gets its repository from ${url}; ${fix}`);
    }
    const notices: string[] = [];
    const git = { env: await gitVariables(this.#parts, home), marker: this.#parts.claim() };
    const mirror: Mirror = await openMirror({
      root: mirrors.root,
      url,
      git,
      onNotice: (message) => void notices.push(message),
    });
    return { ...mirror, takeNotices: () => notices.splice(0) };
  }
}
