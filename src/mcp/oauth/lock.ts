/** A lock file across processes. It names its owner, and another process takes it over if the owner is dead. */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { keepFresh, watchFreshness, type FreshnessWatch } from "../../stdx/fresh-file.ts";
import { judgeOwner, newOwnerText } from "../../stdx/process/owner.ts";
import { makePrivateFolder } from "./vault.ts";

const POLL_MS = 50;
/** A takeover takes much less than this. */
const TAKEOVER_MS = 10_000;
/** Shorter than any caller's wait, and three times the interval at which an owner touches its file. */
const STALE_MS = 15_000;

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly waitMs: number;
}

/** Rejects when the signal fires, or when others have held the lock for `waitMs`. */
export async function acquireLock(file: string, { signal, waitMs }: LockOptions): Promise<AsyncDisposable> {
  makePrivateFolder(dirname(file));
  const owner = newOwnerText();
  const until = performance.now() + waitMs;
  const watch = watchFreshness(file, { ms: STALE_MS });
  while (!(await tryCreate(file, owner))) {
    signal.throwIfAborted();
    if (await removeDeadLock(file, watch)) continue;
    if (performance.now() > until)
      throw new Error(`another process has held ${file} for ${Math.round(waitMs / 1_000)} s`);
    await delay(POLL_MS, undefined, { signal });
  }
  const fresh = keepFresh(file);
  return {
    async [Symbol.asyncDispose]() {
      fresh[Symbol.dispose]();
      if ((await readOwner(file)) === owner) await rm(file, { force: true });
    },
  };
}

/** Creates the file with its content in one step, because a lock without an owner could never be taken over. */
async function tryCreate(file: string, owner: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, owner, { mode: 0o600, flag: "wx" });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the lock of a dead owner. The takeover file ensures that nobody removes a newer lock. */
async function removeDeadLock(file: string, watch: FreshnessWatch): Promise<boolean> {
  const owner = await readOwner(file);
  if (owner === undefined || !(await isOwnerDead(owner, watch))) return false;
  const takeover = `${file}.takeover`;
  try {
    await writeFile(takeover, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (await isOld(takeover)) await rm(takeover, { force: true }); // its process was killed during the takeover
    return false;
  }
  try {
    const isStill = (await readOwner(file)) === owner && (await isOwnerDead(owner, watch));
    if (isStill) await rm(file, { force: true });
    return isStill;
  } finally {
    await rm(takeover, { force: true });
  }
}

/** An owner that cannot be inspected from here counts as dead if it has not touched its file for long enough. */
async function isOwnerDead(owner: string, watch: FreshnessWatch): Promise<boolean> {
  const state = judgeOwner(owner);
  return state === "dead" || (state === "unknown" && (await watch.isStale(owner)));
}

async function readOwner(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > TAKEOVER_MS;
}
