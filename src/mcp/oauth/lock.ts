/** One at a time, here and in other processes: a file that names its owner, taken over when the owner is dead. */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeadOwner } from "../../stdx/process/owner.ts";
import { ownIdentity } from "../../stdx/process/identity.ts";
import { makePrivate } from "./vault.ts";

const LOOK_MS = 50;
/** Who takes over a dead owner's lock needs less than a moment for it. */
const TAKEOVER_MS = 10_000;

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly waitMs: number;
}

/** Rejects when the signal fires, or when others had it for `waitMs`. */
export async function lock(file: string, { signal, waitMs }: LockOptions): Promise<AsyncDisposable> {
  makePrivate(dirname(file));
  const { pid, startTime } = ownIdentity();
  const owner = `${pid}.${startTime}.${randomBytes(6).toString("hex")}`;
  const until = performance.now() + waitMs;
  while (!(await created(file, owner))) {
    signal.throwIfAborted();
    if (await endTheDead(file)) continue;
    if (performance.now() > until) throw new Error(`another process has ${file} since ${Math.round(waitMs / 1_000)} s`);
    await delay(LOOK_MS, undefined, { signal });
  }
  return {
    async [Symbol.asyncDispose]() {
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
async function endTheDead(file: string): Promise<boolean> {
  if (!isDeadOwner((await ownerOf(file)) ?? "")) return false;
  const takeover = `${file}.takeover`;
  try {
    await writeFile(takeover, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (await isOld(takeover)) await rm(takeover, { force: true }); // it was killed in that moment
    return false;
  }
  try {
    const dead = isDeadOwner((await ownerOf(file)) ?? "");
    if (dead) await rm(file, { force: true });
    return dead;
  } finally {
    await rm(takeover, { force: true });
  }
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
  return found !== undefined && Date.now() - found.mtimeMs > TAKEOVER_MS;
}
