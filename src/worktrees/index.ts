/** Git worktrees for tasks: creates a folder and a branch per task, inspects them, merges them, and removes them safely. */
export { git, gitTry, type GitOptions, type GitRunOptions } from "./git.ts";
export type { GitResult } from "./git-result.ts";
export {
  openRepository,
  type Repository,
  type RepositoryOptions,
  type RepositoryRunOptions,
  type ResolvedRef,
} from "./repository.ts";
export { runCommand, type ShellCommand, type ShellCommandResult } from "./run-command.ts";
export * from "./merge/index.ts";
export * from "./mirror/index.ts";
export { leaseWorktree, type WorktreeLease } from "./lease.ts";
export { findWorktree, listWorktrees, type Worktree } from "./record.ts";
export { leasePort, releasePort, type PortLease } from "./port.ts";
export { setUpWorktree, type SetUpOptions } from "./set-up.ts";
export { commitAll, type CommitAllOptions } from "./commit.ts";
export { MAX_DIFF_BYTES, readSnapshotDiff, readWorktreeDiff, type DiffOptions } from "./diff.ts";
export {
  countUncommittedFiles,
  listWorktreeCommits,
  isBranchMerged,
  readWorktreeStatus,
  type WorktreeStatus,
} from "./status.ts";
export { isEmptyLoss, findLoss, type WorktreeLoss } from "./loss.ts";
export { removeWorktree, type RemoveOptions } from "./remove.ts";
export { measureDiskUsage } from "./size.ts";
export * from "./collect/index.ts";
