/** Commits as objects alone: written without an index, a checkout or a hook, and never signed, since that may ask. */
import { trimEndOf } from "../../stdx/index.ts";
import type { Repository } from "../repository.ts";

export interface CommitContent {
  readonly tree: string;
  readonly parents: readonly string[];
  /** As git has it in a commit: name, address and date. Whoever commits if not said. */
  readonly author?: string | undefined;
  readonly committer: string;
  readonly message: string;
}

/** Gives its name. */
export async function writeCommit(repository: Repository, commit: CommitContent, signal?: AbortSignal): Promise<string> {
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

/** Who commits, and when: now. */
export async function readCommitter(repository: Repository, signal?: AbortSignal): Promise<string> {
  return repository.git(["var", "GIT_COMMITTER_IDENT"], { signal });
}
