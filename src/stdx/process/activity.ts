/**
 * Tells whether the processes with a marker are working or idle, from the CPU time and I/O that they used between two
 * samples. Linux only: on other systems a sample is empty and the processes count as idle.
 */
import { readFileSync } from "node:fs";
import { processesMarked } from "./marker.ts";

/** The resources that each process has used so far. */
export interface ActivitySample {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly uses: ReadonlyMap<string, ResourceUse>;
}

export interface ResourceUse {
  readonly cpuMs: number;
  readonly bytes: number;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
/** A caller may take `since` a moment after it has started the process. */
const START_TOLERANCE_MS = 250;
/** Share of one core, and bytes per second. An idle server and a shell that sleeps in a loop stay below both. */
const IDLE_CPU = 0.02;
const IDLE_BYTES = 4 * 1024;

/**
 * Samples the processes with the marker that started at `since` (milliseconds since the epoch) or later. Excludes direct
 * children of this process: they are the agent's program itself, not what it runs. Reads all of /proc, which is slow.
 */
export function sampleActivity(marker: string, since: number): ActivitySample {
  const uses = new Map<string, ResourceUse>();
  const sinceMs = uptimeMs() - (Date.now() - since);
  for (const { pid, startTime } of process.platform === "linux" ? processesMarked(marker) : []) {
    const found = statOf(pid);
    if (found === undefined || found.parent === process.pid || found.startedMs < sinceMs - START_TOLERANCE_MS) continue;
    uses.set(`${pid}/${startTime}`, { cpuMs: found.cpuMs, bytes: bytesOf(pid) });
  }
  return { at: performance.now(), uses };
}

/** Whether more was used between the samples than idle processes use. A process that is only in the second is new. */
export function hasWorked(before: ActivitySample, after: ActivitySample): boolean {
  const elapsed = Math.max(1, after.at - before.at);
  let cpuMs = 0;
  let bytes = 0;
  for (const [process, use] of after.uses) {
    const earlier = before.uses.get(process);
    cpuMs += use.cpuMs - (earlier?.cpuMs ?? 0);
    bytes += use.bytes - (earlier?.bytes ?? 0);
  }
  return cpuMs / elapsed > IDLE_CPU || bytes / (elapsed / 1000) > IDLE_BYTES;
}

/** Includes time in suspend, as the start times of processes do. */
function uptimeMs(): number {
  try {
    return Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1000;
  } catch {
    return 0; // every process counts
  }
}

interface Stat {
  readonly parent: number;
  /** Since boot. */
  readonly startedMs: number;
  /** Includes children that have ended, because a build consists of many short processes. */
  readonly cpuMs: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the command name may contain anything
    const field = (number: number): number => Number(fields[number - 3]); // numbered as in proc(5)
    const ticks = field(14) + field(15) + field(16) + field(17);
    return { parent: field(4), startedMs: field(22) * TICK_MS, cpuMs: ticks * TICK_MS };
  } catch {
    return undefined; // it has ended
  }
}

/** Bytes read and written, including pipes. 0 if the kernel does not report them. */
function bytesOf(pid: number): number {
  try {
    const io = readFileSync(`/proc/${pid}/io`, "latin1");
    const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1] ?? 0);
    return of("rchar") + of("wchar");
  } catch {
    return 0;
  }
}
