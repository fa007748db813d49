/** Who owns children: a process leaves a file while it lives, and whoever starts later ends what the dead left behind. */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "./identity.ts";
import { killMarked } from "./marker.ts";

export interface Owner extends AsyncDisposable {
  /** Registers this process, once, and returns the marker to put in the environment of every child. */
  claim(): string;
}

/** Keeps its file under `folder`; disposing kills what still carries the marker. */
export function openOwner(folder: string): Owner {
  const { pid, startTime } = ownIdentity();
  const marker = `${pid}.${startTime}.${randomBytes(6).toString("hex")}`; // a count would collide between threads
  const file = join(folder, marker);
  let claimed = false;
  return {
    claim() {
      if (!claimed) {
        makeFolder(folder);
        writeFileSync(file, "", { mode: 0o600 });
        claimed = true;
      }
      return marker;
    },
    async [Symbol.asyncDispose]() {
      if (!claimed) return;
      await killMarked(marker);
      rmSync(file, { force: true });
    },
  };
}

/** Ends what killed owners left running; returns how many processes that were. Never touches what a living owner has. */
export async function sweepDeadOwners(folder: string): Promise<number> {
  let killed = 0;
  for (const { file, marker, owner } of ownersIn(folder)) {
    if (isAlive(owner)) continue;
    killed += await killMarked(marker);
    rmSync(file, { force: true });
  }
  return killed;
}

/** Is this owner text one of a process that is certainly dead on this machine? */
export function isDeadOwner(marker: string): boolean {
  const owner = parseMarker(marker);
  return owner !== undefined && !isAlive(owner);
}

function ownersIn(folder: string): { file: string; marker: string; owner: ProcessIdentity }[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // nobody was ever here
  }
  return names.flatMap((marker) => {
    const owner = parseMarker(marker);
    return owner === undefined ? [] : [{ file: join(folder, marker), marker, owner }];
  });
}

function parseMarker(marker: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^(\d+)\.(.+)\.[0-9a-z]+$/.exec(marker) ?? [];
  return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime };
}
