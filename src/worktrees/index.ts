/** Worktrees: a folder and a branch of its own for each task, made, looked at, and removed without losing anything. */
export { git, gitTry, type Env, type GitOptions, type GitResult, type RunOptions } from "./git.ts";
export {
  openRepository,
  type Repository,
  type RepositoryOptions,
  type RepositoryRun,
  type Resolved,
} from "./repository.ts";
export { runCommand, type Command, type CommandEnd } from "./run-command.ts";
export * from "./merge/index.ts";
export { leaseWorktree, type Lease } from "./lease.ts";
export { findWorktree, listWorktrees, type Worktree } from "./record.ts";
export { leasePort, releasePort, type PortLease } from "./port.ts";
export { setUp, type SetUp } from "./set-up.ts";
export { commitAll, type CommitAll } from "./commit.ts";
export { MAX_DIFF_BYTES, diffOf, type DiffOptions } from "./diff.ts";
export { commitsOf, isMerged, statusOf, type WorktreeStatus } from "./look.ts";
export { isNothing, lossOf, type Loss } from "./loss.ts";
export { removeWorktree, type RemoveOptions } from "./remove.ts";
export { bytesOf } from "./size.ts";
export * from "./collect/index.ts";
