/**
 * Do processes that carry a marker work, or only wait? Told from the time and the bytes that they used between two looks.
 * Only on Linux: elsewhere nothing is found, and whoever asks must take it for idle.
 */
import { readFileSync } from "node:fs";
import { processesMarked } from "./marker.ts";

/** What was used so far, by process. */
export interface Look {
  /** Milliseconds, on a clock that only goes forward. */
  readonly at: number;
  readonly uses: ReadonlyMap<string, Use>;
}

export interface Use {
  readonly cpuMs: number;
  readonly bytes: number;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
/** Who starts a process may say so a moment after it did. */
const EARLY_MS = 250;
/** Of one core, and in bytes a second: a server that waits, or a shell that sleeps in a loop, stays below both. */
const TRICKLE_CPU = 0.02;
const TRICKLE_BYTES = 4 * 1024;

/**
 * Looks at those that carry the marker and started at `since` (as Date.now() says it) or later. Our own children are left
 * out: they are the program that the marker was made for, and not what it runs. Reads all of /proc, which is not free.
 */
export function lookAt(marker: string, since: number): Look {
  const uses = new Map<string, Use>();
  const sinceMs = uptimeMs() - (Date.now() - since);
  for (const { pid, startTime } of process.platform === "linux" ? processesMarked(marker) : []) {
    const found = statOf(pid);
    if (found === undefined || found.parent === process.pid || found.startedMs < sinceMs - EARLY_MS) continue;
    uses.set(`${pid}/${startTime}`, { cpuMs: found.cpuMs, bytes: bytesOf(pid) });
  }
  return { at: performance.now(), uses };
}

/** Was more used between the two than by something that waits? A process that is new in the second used it all in between. */
export function hasWorked(before: Look, after: Look): boolean {
  const elapsed = Math.max(1, after.at - before.at);
  let cpuMs = 0;
  let bytes = 0;
  for (const [process, use] of after.uses) {
    const earlier = before.uses.get(process);
    cpuMs += use.cpuMs - (earlier?.cpuMs ?? 0);
    bytes += use.bytes - (earlier?.bytes ?? 0);
  }
  return cpuMs / elapsed > TRICKLE_CPU || bytes / (elapsed / 1000) > TRICKLE_BYTES;
}

/** Also what the machine slept, as the starts of processes have it. */
function uptimeMs(): number {
  try {
    return Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1000;
  } catch {
    return 0; // all count then
  }
}

interface Stat {
  readonly parent: number;
  /** Since the machine was started. */
  readonly startedMs: number;
  /** With that of its children that ended: a build is many short ones. */
  readonly cpuMs: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // a name may hold anything; from its end on they count
    const field = (number: number): number => Number(fields[number - 3]); // as proc(5) numbers them
    const ticks = field(14) + field(15) + field(16) + field(17);
    return { parent: field(4), startedMs: field(22) * TICK_MS, cpuMs: ticks * TICK_MS };
  } catch {
    return undefined; // gone while we looked
  }
}

/** All that it read and wrote, also through pipes; 0 where the kernel does not tell us. */
function bytesOf(pid: number): number {
  try {
    const io = readFileSync(`/proc/${pid}/io`, "latin1");
    const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1] ?? 0);
    return of("rchar") + of("wchar");
  } catch {
    return 0;
  }
}
