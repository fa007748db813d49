/** Checks whether a merge would overwrite local changes, before a slow gate runs. */
import type { RookeryError } from "../../domain/index.ts";
import { STATUS_FLAGS } from "../status-entry.ts";
import { displayName, readNames } from "../byte-names.ts";
import type { Repository } from "../repository.ts";
import { checkoutDirtyError, type Publication } from "./publish.ts";

/** Returns `checkout_dirty` if it would. Git checks again when the branch moves, including ignored files. */
export async function findLocalChanges(
  repository: Repository,
  { checkout, ref, from, to, signal }: Publication & { checkout: string; signal?: AbortSignal | undefined },
): Promise<RookeryError | undefined> {
  const [touched, changed] = await Promise.all([
    readNames(repository, ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", from, to], { signal }),
    readNames(repository, ["status", "--porcelain=v1", ...STATUS_FLAGS], { cwd: checkout, signal }),
  ]);
  const mine = new Set(touched);
  const files = changed.map((line) => line.slice(3)).filter((name) => mine.has(name));
  return files.length === 0 ? undefined : checkoutDirtyError(checkout, ref, files.map(displayName));
}
