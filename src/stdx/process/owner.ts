/** Who owns children: a process leaves a file while it lives, and whoever starts later ends what the dead left behind. */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { UNREADABLE, ownIdentity, startTimeOf, type ProcessIdentity } from "./identity.ts";
import { killMarked } from "./marker.ts";
import { ownPlace } from "./place.ts";

export interface Owner extends AsyncDisposable {
  /** Registers this process, once, and returns the marker to put in the environment of every child. */
  claim(): string;
}

/** What is known of an owner from here. `unknown`: it is of another place, or cannot be read now. */
export type OwnerState = "alive" | "dead" | "unknown";

/** A process that owns something, as its owner text says it. */
export interface OwnerProcess extends ProcessIdentity {
  /** Undefined in texts of earlier versions, which did not say where they were. */
  readonly place: string | undefined;
}

/** A text that names this process and nothing else: `PLACE.PID.STARTTIME.RANDOM`. */
export function newOwnerText(): string {
  const { pid, startTime } = ownIdentity();
  return `${ownPlace()}.${pid}.${startTime}.${randomBytes(6).toString("hex")}`; // a count would collide between threads
}

/** Undefined where it is no owner text. */
export function parseOwnerText(text: string): OwnerProcess | undefined {
  const [, place, pid, startTime] = /^(?:(h[^.]*)\.)?(\d+)\.(.+)\.[0-9a-z]+$/.exec(text) ?? [];
  return pid === undefined || startTime === undefined ? undefined : { place, pid: Number(pid), startTime };
}

/** What is no owner text is `unknown`. */
export function judgeOwner(text: string): OwnerState {
  const owner = parseOwnerText(text);
  if (owner === undefined || (owner.place !== undefined && owner.place !== ownPlace())) return "unknown";
  const found = startTimeOf(owner.pid);
  if (found === UNREADABLE) return "unknown";
  return found === owner.startTime ? "alive" : "dead";
}

/** Is this owner text one of a process that is certainly dead? */
export function isDeadOwner(text: string): boolean {
  return judgeOwner(text) === "dead";
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** An owner of another place that nobody has heard of for so long is forgotten: a machine that does not come again. */
const FORGOTTEN_MS = 30 * DAY_MS;

/** Keeps its file under `folder`; disposing kills what still carries the marker. */
export function openOwner(folder: string): Owner {
  const marker = newOwnerText();
  const file = join(folder, marker);
  let claimedAt: number | undefined;
  return {
    claim() {
      const now = performance.now();
      if (claimedAt === undefined || now - claimedAt > DAY_MS) {
        makeFolder(folder);
        writeFileSync(file, "", { mode: 0o600 });
        utimesSync(file, new Date(), new Date()); // whoever cannot judge us sees that we are still there
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

/** Ends what killed owners left running; returns how many processes that were. Never touches what another owner may have. */
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
    return []; // nobody was ever here
  }
}
