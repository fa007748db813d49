/**
 * Finds and kills processes by a marker in their environment, which descendants inherit even if they leave their process
 * group, and by a tag (`limit-tag.ts`) that they keep even if they lose their environment.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { EnvironmentVariables } from "../environment.ts";
import { UNREADABLE, signalProcess, startTimeOf, type ProcessIdentity } from "./identity.ts";
import { hasTag } from "./limit-tag.ts";

/** A comma-separated list: if a program that Rookery runs is itself a Rookery, its children have both markers. */
const MARKER_VARIABLE = "ROOKERY_OWNER";

/** Adds a marker to an environment, and removes Rookery's token from it. */
export function withMarker(env: EnvironmentVariables, marker: string): EnvironmentVariables {
  const inherited = env[MARKER_VARIABLE];
  const own = inherited ? `${inherited},${marker}` : marker;
  return { ...env, ROOKERY_TOKEN: undefined, [MARKER_VARIABLE]: own }; // with the token a child could answer permission requests
}

/** The processes that carry all of the comma-separated markers. Blocks while it scans the processes. */
export function processesMarked(markers: string): ProcessIdentity[] {
  return process.platform === "linux"
    ? Array.from(linuxPids(), (pid) => inspectProcess(pid, markers)).flatMap(({ found }) => found)
    : psProcesses(markers);
}

const ROUNDS = 20;
const ROUND_MS = 25;
/** An `exec` takes no longer than this. Some programs never have an environment. */
const UNSURE_ROUNDS = 2;

/** Kills every process that carries the markers, and repeats that while new ones appear. Returns how many it killed. */
export async function killMarked(markers: string): Promise<number> {
  return killEach(() => findMarked(markers));
}

/** Like `killMarked`, but only in one process group. The id alone is not enough, because the system may reuse it. */
export async function killMarkedInGroup(markers: string, group: number): Promise<number> {
  return killEach(() => findMarked(markers, (pid) => groupOf(pid) === group));
}

interface MarkedProcesses {
  readonly found: readonly ProcessIdentity[];
  /** Whether a process could not be read because it is in the middle of an `exec`. */
  readonly unsure: boolean;
}

async function killEach(find: () => Promise<MarkedProcesses>): Promise<number> {
  const killed = new Set<string>();
  let empty = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { found, unsure } = await find();
    if (found.length > 0) empty = 0;
    else if (!unsure || (empty += 1) > UNSURE_ROUNDS) break;
    for (const identity of found) {
      killed.add(`${identity.pid}/${identity.startTime}`);
      signalProcess(identity, "SIGKILL");
    }
    await sleep(ROUND_MS);
  }
  return killed.size;
}

/** How long a scan may block the event loop at a time. */
const SLICE_MS = 5;

async function findMarked(markers: string, isWanted: (pid: number) => boolean = () => true): Promise<MarkedProcesses> {
  if (process.platform !== "linux") {
    return { found: psProcesses(markers).filter(({ pid }) => isWanted(pid)), unsure: false };
  }
  const found: ProcessIdentity[] = [];
  let isUnsure = false;
  let until = performance.now() + SLICE_MS;
  for (const pid of linuxPids()) {
    const one = isWanted(pid) ? inspectProcess(pid, markers) : NONE;
    found.push(...one.found);
    isUnsure ||= one.unsure;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + SLICE_MS;
  }
  return { found, unsure: isUnsure };
}

const NONE: MarkedProcesses = { found: [], unsure: false };

/** Reads the start time first: if the pid is reused before the signal is sent, the signal is not sent. */
function inspectProcess(pid: number, markers: string): MarkedProcesses {
  if (pid === process.pid) return NONE;
  const startTime = startTimeOf(pid);
  if (startTime === undefined || startTime === UNREADABLE) return NONE;
  const environment = environmentOf(pid);
  const isEmpty = environment === "";
  if (isEmpty && !isProgram(pid)) return NONE; // a kernel thread
  const variable = environment?.split("\0").find((each) => each.startsWith(`${MARKER_VARIABLE}=`));
  if ((variable !== undefined && carries(variable, markers)) || hasTag(pid, markers)) {
    return { found: [{ pid, startTime }], unsure: false };
  }
  return isEmpty ? { found: [], unsure: true } : NONE;
}

function linuxPids(): number[] {
  return readdirSync("/proc").flatMap((entry) => (/^\d+$/.test(entry) ? [Number(entry)] : []));
}

/** Undefined if it cannot be read: the process is gone, belongs to another user, or hides it. */
function environmentOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return undefined;
  }
}

/** Zombies and kernel threads have no environment and no executable. */
function isProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false;
  }
}

function groupOf(pid: number): number | undefined {
  try {
    if (process.platform !== "linux") return Number(ps(["-o", "pgid=", "-p", String(pid)]));
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  } catch {
    return undefined; // it has ended
  }
}

/** For macOS, where `-E` shows the environment of the user's own processes. Not tested there. */
function psProcesses(markers: string): ProcessIdentity[] {
  const pids = ps(["-axEww", "-o", "pid=,command="])
    .split("\n")
    .filter((line) => line.split(" ").some((word) => carries(word, markers)))
    .map((line) => Number.parseInt(line, 10));
  return pids.flatMap((pid) => {
    const startTime = !Number.isInteger(pid) || pid === process.pid ? undefined : startTimeOf(pid);
    return startTime === undefined || startTime === UNREADABLE ? [] : [{ pid, startTime }];
  });
}

function ps(args: readonly string[]): string {
  return execFileSync("ps", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function carries(variable: string, markers: string): boolean {
  const prefix = `${MARKER_VARIABLE}=`;
  if (!variable.startsWith(prefix)) return false;
  const carried = variable.slice(prefix.length).split(",");
  return markers.split(",").every((marker) => carried.includes(marker));
}
