/** Writes commit objects without an index, a checkout or hooks. Never signs them, because signing may prompt. */
import { trimEndOf } from "../../stdx/index.ts";
import type { Repository } from "../repository.ts";

export interface CommitContent {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Name, email and date in git's format. Default: the committer. */
  readonly author?: string | undefined;
  readonly committer: string;
  readonly message: string;
}

/** Returns the commit id. */
export async function writeCommit(
  repository: Repository,
  commit: CommitContent,
  signal?: AbortSignal,
): Promise<string> {
  const { tree, parents, committer, author = committer, message } = commit;
  const head = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author}`,
    `committer ${committer}`,
  ];
  const text = `${trimEndOf(message.replaceAll("\0", "").toWellFormed(), "\n")}\n`;
  const input = `${head.join("\n")}\n\n${text}`;
  return repository.git(["hash-object", "-t", "commit", "-w", "--stdin"], { input, signal });
}

/** Returns the committer with the current time, in git's format. */
export async function readCommitter(repository: Repository, signal?: AbortSignal): Promise<string> {
  return repository.git(["var", "GIT_COMMITTER_IDENT"], { signal });
}
