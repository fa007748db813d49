/** Parses `git status --porcelain=v2`. */
import type { ByteName } from "./byte-names.ts";

/**
 * Flags for `git status` that override the settings of the user and of `.gitmodules`. Git runs nothing in nested
 * repositories; `listChangedGitlinks` finds their changes.
 */
export const STATUS_FLAGS = ["-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"] as const;

export interface StatusEntry {
  readonly path: ByteName;
  /** Mode and object id of the path in HEAD. Empty if HEAD does not have it. */
  readonly head: string;
  /** Mode and object id of the path in the index. Empty if the index does not have it. */
  readonly index: string;
  /** True if the index has what the worktree has, or nothing. */
  readonly isIndexCurrent: boolean;
  /** True if the index differs from HEAD, even if only by an intent to add the path. */
  readonly isStaged: boolean;
  readonly isUnmerged: boolean;
  /** True for a nested repository that git tracks by its commit. */
  readonly isGitlink: boolean;
}

const NO_MODE = "000000";

/** Parses `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path` and `? path`. */
export function parseStatusEntry(line: ByteName): StatusEntry {
  const isChanged = line.startsWith("1 ");
  const isUnmerged = line.startsWith("u ");
  const fields = line.split(" ");
  const path = fields.slice(isChanged ? 8 : isUnmerged ? 10 : 1).join(" ");
  if (!isChanged)
    return { path, head: "", index: "", isIndexCurrent: true, isStaged: false, isUnmerged, isGitlink: false };
  const [, changes = "", submodule = "", headMode = "", indexMode = "", , headId = "", indexId = ""] = fields;
  return {
    path,
    head: headMode === NO_MODE ? "" : `${headMode} ${headId}`,
    index: indexMode === NO_MODE ? "" : `${indexMode} ${indexId}`,
    isIndexCurrent: indexMode === NO_MODE || changes.endsWith("."),
    isStaged: !changes.startsWith(".") || changes.endsWith("A"),
    isUnmerged,
    isGitlink: submodule.startsWith("S"),
  };
}
