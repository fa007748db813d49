/**
 * Registers this process as the owner of its children. Each owner keeps a file while it is alive, so that the next start
 * finds owners that died and kills the children that they left.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { UNREADABLE, ownIdentity, startTimeOf, type ProcessIdentity } from "./identity.ts";
import { killMarked } from "./marker.ts";
import { isOwnPidScope, ownPidScope } from "./pid-scope.ts";

export interface Owner extends AsyncDisposable {
  /** Registers this process, once, and returns the marker to put in the environment of every child. */
  claim(): string;
}

/** `unknown`: the owner runs in another pid scope, or cannot be read at the moment. */
export type OwnerState = "alive" | "dead" | "unknown";

/** The process that an owner text names. */
export interface OwnerProcess extends ProcessIdentity {
  /** Undefined in texts of earlier versions. */
  readonly scope: string | undefined;
}

/** Returns a unique text that names this process: `PLACE.PID.STARTTIME.RANDOM`. Default of `scope`: `ownPidScope()`. */
export function newOwnerText(scope = ownPidScope()): string {
  const { pid, startTime } = ownIdentity();
  return `${scope}.${pid}.${startTime}.${randomBytes(6).toString("hex")}`; // a counter would collide between threads
}

/** Undefined if it is not an owner text. */
export function parseOwnerText(text: string): OwnerProcess | undefined {
  const [, scope, pid, startTime] = /^(?:(h[^.]*)\.)?(\d+)\.(.+)\.[0-9a-z]+$/.exec(text) ?? [];
  return pid === undefined || startTime === undefined ? undefined : { scope, pid: Number(pid), startTime };
}

/** Returns `unknown` if the text does not name an owner. */
export function judgeOwner(text: string): OwnerState {
  const owner = parseOwnerText(text);
  if (owner === undefined || (owner.scope !== undefined && !isOwnPidScope(owner.scope))) return "unknown";
  const found = startTimeOf(owner.pid);
  if (found === UNREADABLE || (found !== undefined && owner.startTime === UNREADABLE)) return "unknown";
  return found === owner.startTime ? "alive" : "dead";
}

/** Whether the owner text names a process that is certainly dead. */
export function isDeadOwner(text: string): boolean {
  return judgeOwner(text) === "dead";
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** The file of an owner in another pid scope is deleted if it has not been updated for this long. */
const FORGOTTEN_MS = 30 * DAY_MS;

/**
 * Keeps the owner's file in `folder`. Disposing kills every process that still carries the marker. Default of `scope`:
 * `ownPidScope()`.
 */
export function openOwner(folder: string, scope?: string): Owner {
  const marker = newOwnerText(scope);
  const file = join(folder, marker);
  let claimedAt: number | undefined;
  return {
    claim() {
      const now = performance.now();
      if (claimedAt === undefined || now - claimedAt > DAY_MS) {
        makeFolder(folder);
        writeFileSync(file, "", { mode: 0o600 });
        utimesSync(file, new Date(), new Date()); // for processes in other pid scopes
        claimedAt = now;
      }
      return marker;
    },
    async [Symbol.asyncDispose]() {
      if (claimedAt === undefined) return;
      await killMarked(marker);
      rmSync(file, { force: true });
    },
  };
}

/** Kills the processes that dead owners left, and returns how many. Leaves processes alone whose owner may be alive. */
export async function sweepDeadOwners(folder: string): Promise<number> {
  let killed = 0;
  for (const marker of namesIn(folder)) {
    const file = join(folder, marker);
    const state = parseOwnerText(marker) === undefined ? "alive" : judgeOwner(marker);
    if (state === "alive" || (state === "unknown" && !isForgotten(file))) continue;
    if (state === "dead") killed += await killMarked(marker);
    rmSync(file, { force: true });
  }
  return killed;
}

function isForgotten(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > FORGOTTEN_MS;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no owner has registered yet
  }
}
