/** Finds processes by a marker in their environment, which descendants inherit even when they leave their group. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, startTimeOf, type ProcessIdentity } from "./identity.ts";

/** A list with commas: a program that Rookery runs may itself be a Rookery, and its children then have both owners. */
const MARKER_VARIABLE = "ROOKERY_OWNER";

type Environment = Readonly<Record<string, string | undefined>>;

export function withMarker(env: Environment, marker: string): Environment {
  const inherited = env[MARKER_VARIABLE];
  return { ...env, [MARKER_VARIABLE]: inherited ? `${inherited},${marker}` : marker };
}

export function processesMarked(marker: string): ProcessIdentity[] {
  return lookFor(marker).found;
}

/** `unsure`: some process could not be read just now, because it is becoming another program. */
function lookFor(marker: string): { readonly found: ProcessIdentity[]; readonly unsure: boolean } {
  const { pids, unsure } = process.platform === "linux" ? linuxPids(marker) : { pids: psPids(marker), unsure: false };
  const found = pids.flatMap((pid) => {
    const startTime = pid === process.pid ? undefined : startTimeOf(pid);
    return startTime === undefined ? [] : [{ pid, startTime }];
  });
  return { found, unsure };
}

const ROUNDS = 20;
const ROUND_MS = 25;
/** Becoming another program takes no longer; some programs have no environment for good. */
const UNSURE_ROUNDS = 2;

/** Kills every process that carries the marker, again and again while new ones appear; returns how many. */
export async function killMarked(marker: string): Promise<number> {
  const killed = new Set<string>();
  let empty = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { found, unsure } = lookFor(marker);
    if (found.length > 0) empty = 0;
    else if (!unsure || (empty += 1) > UNSURE_ROUNDS) break;
    for (const identity of found) {
      killed.add(`${identity.pid}/${identity.startTime}`);
      killOne(identity);
    }
    await sleep(ROUND_MS);
  }
  return killed.size;
}

function killOne(identity: ProcessIdentity): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, "SIGKILL");
  } catch {
    // it ended by itself, which is what was wanted
  }
}

function linuxPids(marker: string): { readonly pids: number[]; readonly unsure: boolean } {
  let unsure = false;
  const pids = readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const environment = readFileSync(`/proc/${entry}/environ`, "latin1");
      if (environment === "") unsure ||= isProgram(entry);
      return environment.split("\0").some((variable) => carries(variable, marker)) ? [Number(entry)] : [];
    } catch {
      return []; // gone, or another user's
    }
  });
  return { pids, unsure };
}

/** A zombie and a thread of the kernel have no environment either, and no program. */
function isProgram(pid: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false;
  }
}

/** Written for macOS and not tried there: `-E` shows the environment of one's own processes. */
function psPids(marker: string): number[] {
  const text = execFileSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return text
    .split("\n")
    .filter((line) => line.split(" ").some((word) => carries(word, marker)))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => Number.isInteger(pid));
}

function carries(variable: string, marker: string): boolean {
  const prefix = `${MARKER_VARIABLE}=`;
  return variable.startsWith(prefix) && variable.slice(prefix.length).split(",").includes(marker);
}
