/** Changes that `git status` does not report, because the index says not to look (`assume-unchanged`, `skip-worktree`). */
import { randomBytes } from "node:crypto";
import { copyFile, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { linkedAt } from "./linked.ts";
import { joinNames, namesFrom, pathOfName, type ByteName } from "./names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Compares them through a copy of the index without these flags. Files that are not there are not compared. */
export async function hiddenChanges(
  repository: Repository,
  { path }: Pick<Worktree, "path">,
  signal?: AbortSignal,
): Promise<readonly ByteName[]> {
  const at = { cwd: path, signal };
  const lines = await namesFrom(repository, ["ls-files", "-v", "-z"], at);
  const flagged: ByteName[] = [];
  for (const line of lines) {
    // A lowercase letter means `assume-unchanged`, and S means `skip-worktree`.
    if (/^[a-zS] /.test(line) && (await exists(pathOfName(path, line.slice(2))))) flagged.push(line.slice(2));
  }
  const linked = flagged.length === 0 ? undefined : await linkedAt(repository, path);
  if (linked === undefined) return flagged;
  const index = join(linked.dir, `rookery-${randomBytes(6).toString("hex")}.index`);
  try {
    await copyFile(join(linked.dir, "index"), index);
    const input = joinNames(flagged);
    for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) {
      await repository.git(["update-index", flag, "-z", "--stdin"], { ...at, index, input });
    }
    const args = ["diff-files", "--name-only", "-z", "--ignore-submodules=all", "--"];
    const changed = new Set(await namesFrom(repository, args, { ...at, index }));
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
