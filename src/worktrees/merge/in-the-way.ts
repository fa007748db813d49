/** Looks whether the user has changed what a merge would have to write, before anything long is begun. */
import type { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";
import { dirty, type Publication } from "./publish.ts";

/** It is git that decides when the branch is moved: it knows of ignored files too. */
export async function inTheWay(
  repository: Repository,
  { checkout, ref, from, to, signal }: Publication & { checkout: string; signal?: AbortSignal | undefined },
): Promise<RookeryError | undefined> {
  const [touched, changed] = await Promise.all([
    repository.git(["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", from, to], { signal }),
    repository.git(["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"], { cwd: checkout, signal }),
  ]);
  const mine = new Set(touched.split("\0"));
  const files = changed.split("\0").flatMap((line) => (line !== "" && mine.has(line.slice(3)) ? [line.slice(3)] : []));
  return files.length === 0 ? undefined : dirty(checkout, ref, files);
}
