/** Remotes that several hosts share: a mirror per host, work in progress on private refs, and published merges. */
export { openMirror, type Mirror, type MirrorOptions } from "./mirror.ts";
export { findCheckoutOfRemote } from "./path-remote.ts";
export { openMergeRemote } from "./publish.ts";
export { parseRemoteUrl } from "./remote-url.ts";
export { restoreWorktree, type RestoredWorktree, type RestoreOptions } from "./restore.ts";
export type { SnapshotOptions } from "./snapshot.ts";
export {
  WorkInProgress,
  claimWorkInProgress,
  deleteWorkInProgress,
  fetchWorkInProgress,
  workInProgressRef,
  type SaveResult,
  type TaskOnRemote,
} from "./work-in-progress.ts";
