/** Finds changes that `git status` does not report because of the index flags `assume-unchanged` and `skip-worktree`. */
import { randomBytes } from "node:crypto";
import { copyFile, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { findLinkedWorktree } from "./linked-worktrees.ts";
import { joinNames, readNames, joinByteName, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Compares flagged files through a copy of the index without these flags. Skips missing files. */
export async function hiddenChanges(
  repository: Repository,
  { path }: Pick<Worktree, "path">,
  signal?: AbortSignal,
): Promise<readonly ByteName[]> {
  const at = { cwd: path, signal };
  const lines = await readNames(repository, ["ls-files", "-v", "-z"], at);
  const flagged: ByteName[] = [];
  for (const line of lines) {
    // A lowercase letter means `assume-unchanged`, and S means `skip-worktree`.
    if (/^[a-zS] /.test(line) && (await exists(joinByteName(path, line.slice(2))))) flagged.push(line.slice(2));
  }
  const linked = flagged.length === 0 ? undefined : await findLinkedWorktree(repository, path);
  if (linked === undefined) return flagged;
  const index = join(linked.dir, `rookery-${randomBytes(6).toString("hex")}.index`);
  try {
    await copyFile(join(linked.dir, "index"), index);
    const input = joinNames(flagged);
    for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) {
      await repository.git(["update-index", flag, "-z", "--stdin"], { ...at, index, input });
    }
    const args = ["diff-files", "--name-only", "-z", "--ignore-submodules=all", "--"];
    const changed = new Set(await readNames(repository, args, { ...at, index }));
    return flagged.filter((name) => changed.has(name));
  } finally {
    await rm(index, { force: true });
  }
}

async function exists(path: Buffer): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
