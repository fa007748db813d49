/**
 * Finds processes by a marker in their environment, which descendants inherit even when they leave their group, and by
 * a tag that they keep although they lose their environment.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { UNREADABLE, signalProcess, startTimeOf, type ProcessIdentity } from "./identity.ts";
import { hasTag } from "./limit-tag.ts";

/** A list with commas: a program that Rookery runs may itself be a Rookery, and its children then have both owners. */
const MARKER_VARIABLE = "ROOKERY_OWNER";

type Environment = Readonly<Record<string, string | undefined>>;

export function withMarker(env: Environment, marker: string): Environment {
  const inherited = env[MARKER_VARIABLE];
  const own = inherited ? `${inherited},${marker}` : marker;
  return { ...env, ROOKERY_TOKEN: undefined, [MARKER_VARIABLE]: own }; // with the token a child could answer permission requests
}

/** `markers` is one, or several with commas between: then a process must carry all of them. Blocks while it looks. */
export function processesMarked(markers: string): ProcessIdentity[] {
  return process.platform === "linux"
    ? Array.from(linuxPids(), (pid) => lookAtOne(pid, markers)).flatMap(({ found }) => found)
    : psProcesses(markers);
}

const ROUNDS = 20;
const ROUND_MS = 25;
/** Becoming another program takes no longer; some programs have no environment for good. */
const UNSURE_ROUNDS = 2;

/** Kills every process that carries the markers, again and again while new ones appear; returns how many. */
export async function killMarked(markers: string): Promise<number> {
  return killEach(() => lookFor(markers));
}

/** As `killMarked`, only within one process group: its number alone may be a stranger's once its leader is gone. */
export async function killMarkedInGroup(markers: string, group: number): Promise<number> {
  return killEach(() => lookFor(markers, (pid) => groupOf(pid) === group));
}

/** `unsure`: some process could not be read just now, because it is becoming another program. */
interface Found {
  readonly found: readonly ProcessIdentity[];
  readonly unsure: boolean;
}

async function killEach(look: () => Promise<Found>): Promise<number> {
  const killed = new Set<string>();
  let empty = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { found, unsure } = await look();
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

/** How long a look at all processes may keep the event loop from anything else. */
const SLICE_MS = 5;

async function lookFor(markers: string, isWanted: (pid: number) => boolean = () => true): Promise<Found> {
  if (process.platform !== "linux") {
    return { found: psProcesses(markers).filter(({ pid }) => isWanted(pid)), unsure: false };
  }
  const found: ProcessIdentity[] = [];
  let isUnsure = false;
  let until = performance.now() + SLICE_MS;
  for (const pid of linuxPids()) {
    const one = isWanted(pid) ? lookAtOne(pid, markers) : NOTHING;
    found.push(...one.found);
    isUnsure ||= one.unsure;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + SLICE_MS;
  }
  return { found, unsure: isUnsure };
}

const NOTHING: Found = { found: [], unsure: false };

/** The start time is read first: if the number goes to another process while we look, the signal is not sent. */
function lookAtOne(pid: number, markers: string): Found {
  if (pid === process.pid) return NOTHING;
  const startTime = startTimeOf(pid);
  if (startTime === undefined || startTime === UNREADABLE) return NOTHING;
  const environment = environmentOf(pid);
  const isEmpty = environment === "";
  if (isEmpty && !isProgram(pid)) return NOTHING; // a thread of the kernel
  const variable = environment?.split("\0").find((each) => each.startsWith(`${MARKER_VARIABLE}=`));
  if ((variable !== undefined && carries(variable, markers)) || hasTag(pid, markers)) {
    return { found: [{ pid, startTime }], unsure: false };
  }
  return isEmpty ? { found: [], unsure: true } : NOTHING;
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

/** A zombie and a thread of the kernel have no environment either, and no program. */
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
    return undefined; // gone
  }
}

/** Written for macOS and not tried there: `-E` shows the environment of one's own processes. */
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
