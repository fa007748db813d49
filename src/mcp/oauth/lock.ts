/** One at a time, here and in other processes: a file that names its owner, taken over when the owner is dead. */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { keepFresh, watchFreshness, type FreshnessWatch } from "../../stdx/fresh-file.ts";
import { judgeOwner, newOwnerText } from "../../stdx/process/owner.ts";
import { makePrivate } from "./vault.ts";

const LOOK_MS = 50;
/** Who takes over a dead owner's lock needs less than a moment for it. */
const TAKEOVER_MS = 10_000;
/** Shorter than anybody waits, and three times as long as an owner rests between two signs of life. */
const STALE_MS = 15_000;

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly waitMs: number;
}

/** Rejects when the signal fires, or when others had it for `waitMs`. */
export async function lock(file: string, { signal, waitMs }: LockOptions): Promise<AsyncDisposable> {
  makePrivate(dirname(file));
  const owner = newOwnerText();
  const until = performance.now() + waitMs;
  const watch = watchFreshness(file, { ms: STALE_MS });
  while (!(await created(file, owner))) {
    signal.throwIfAborted();
    if (await endTheDead(file, watch)) continue;
    if (performance.now() > until) throw new Error(`another process has ${file} since ${Math.round(waitMs / 1_000)} s`);
    await delay(LOOK_MS, undefined, { signal });
  }
  const fresh = keepFresh(file);
  return {
    async [Symbol.asyncDispose]() {
      fresh[Symbol.dispose]();
      if ((await ownerOf(file)) === owner) await rm(file, { force: true });
    },
  };
}

/** Whole from the first moment on: a lock without its owner's name would be nobody's for ever. */
async function created(file: string, owner: string): Promise<boolean> {
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

/** Only who holds the take-over removes a dead owner's lock, so that nobody removes the one that came after it. */
async function endTheDead(file: string, watch: FreshnessWatch): Promise<boolean> {
  const owner = await ownerOf(file);
  if (owner === undefined || !(await isGone(owner, watch))) return false;
  const takeover = `${file}.takeover`;
  try {
    await writeFile(takeover, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (await isOld(takeover)) await rm(takeover, { force: true }); // it was killed in that moment
    return false;
  }
  try {
    const isStill = (await ownerOf(file)) === owner && (await isGone(owner, watch));
    if (isStill) await rm(file, { force: true });
    return isStill;
  } finally {
    await rm(takeover, { force: true });
  }
}

/** An owner that cannot be judged from here is gone when it has not set the time of its file for long enough. */
async function isGone(owner: string, watch: FreshnessWatch): Promise<boolean> {
  const state = judgeOwner(owner);
  return state === "dead" || (state === "unknown" && (await watch.isStale(owner)));
}

async function ownerOf(file: string): Promise<string | undefined> {
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
