/**
 * File locks between processes. The file names its owner; another process takes the lock over if the owner is dead. If this
 * process cannot check the owner, such as on another host, the lock is valid while its modification time is fresh.
 */
import { link, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  abortableSleep,
  isDeadOwner,
  judgeOwner,
  keepFresh,
  killMarked,
  newOwnerText,
  watchFreshness,
} from "../stdx/index.ts";

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;

/**
 * Runs `work` while holding the lock. Resolves with undefined, without running it, if the lock is not free within `waitMs`.
 * If this process dies, the process that takes over the lock first kills all processes with `marker`.
 */
export async function withLock<T>(
  file: string,
  waitMs: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
  marker = "",
): Promise<{ readonly result: T } | undefined> {
  const own = `${newOwnerText()}\n${marker}`;
  if (!(await acquire(file, own, waitMs, signal))) return undefined;
  using _fresh = keepFresh(file);
  try {
    return { result: await work() };
  } finally {
    if ((await readOwner(file)) === own) await rm(file, { force: true });
  }
}

const SWEEP_MS = 5_000;

/** Removes the locks of dead owners from the folder, including temporary files of an interrupted acquisition. */
export async function sweepLocks(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, lock, draftOf] = /^(rookery(?:-merge)?\.lock(?:\.dead)*)(?:\.((?:h[^.]*\.)?\d+\..+))?$/.exec(name) ?? [];
    if (lock === undefined) continue;
    const file = join(folder, name);
    const owner = draftOf ?? (await readOwner(file));
    if (owner === undefined || !isDeadOwner(owner.split("\n")[0] ?? "")) continue;
    if (draftOf === undefined) await removeDeadLock(file, owner, SWEEP_MS, undefined);
    else await rm(file, { force: true });
  }
}

async function acquire(file: string, own: string, waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  const until = performance.now() + waitMs;
  const watch = watchFreshness(file);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, MAX_PAUSE_MS)) {
    signal?.throwIfAborted();
    if (await createLockFile(file, own)) return true;
    const owner = await readOwner(file);
    const state = owner === undefined ? "alive" : judgeOwner(owner.split("\n")[0] ?? "");
    if (owner !== undefined && (state === "dead" || (state === "unknown" && (await watch.isStale(owner))))) {
      const left = until - performance.now();
      if (left > 0 && (await removeDeadLock(file, owner, left, signal))) continue;
    }
    if (performance.now() + ms > until) return false;
    await abortableSleep(ms, signal);
  }
}

/** Creates the lock file with its content atomically: nobody could take over a lock without an owner. */
async function createLockFile(file: string, own: string): Promise<boolean> {
  const draft = `${file}.${own.split("\n")[0] ?? ""}`;
  await writeFile(draft, own, { flag: "wx", mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes the lock file of an owner that is dead or has stopped refreshing it. Holds a second lock meanwhile: of two
 * processes that find the same owner dead, the slower one would otherwise remove the lock that the faster one took.
 */
async function removeDeadLock(
  file: string,
  dead: string,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const buried = await withLock(
    `${file}.dead`,
    waitMs,
    async () => {
      if ((await readOwner(file)) !== dead) return;
      const [owner = "", marker] = dead.split("\n");
      if (marker && isDeadOwner(owner)) await killMarked(marker); // an owner on another host runs nothing here
      await rm(file, { force: true });
    },
    signal,
  );
  return buried !== undefined;
}

async function readOwner(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
