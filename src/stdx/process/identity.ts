/** Which process is meant: a pid alone may have been given to a stranger meanwhile, a pid with its start time has not. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** When the process started, as text to compare; undefined where there is no such process. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === "linux" ? linuxStartTime(pid) : psStartTime(pid);
}

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime;
}

/** Sends the signal if the number still belongs to this very process, compared right before; returns whether it did. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  try {
    return isAlive(identity) && process.kill(identity.pid, signal);
  } catch {
    return false; // it ended by itself in between
  }
}

let own: ProcessIdentity | undefined;

export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, startTime: startTimeOf(process.pid) ?? "unknown" };
  return own;
}

/** Ticks since boot count anew after a boot, so the boot is part of the text. A zombie is dead. */
function linuxStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    return `${boot}-${fields[19] ?? ""}`;
  } catch {
    return undefined; // gone, or gone while we looked
  }
}

/** Written for macOS and not tried there. */
function psStartTime(pid: number): string | undefined {
  try {
    const text = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8", stdio: "pipe" });
    const [, state, started] = /^\s*(\S+)\s+(.+?)\s*$/.exec(text) ?? [];
    return state === undefined || state.startsWith("Z") ? undefined : started?.replaceAll(/\s+/g, "_");
  } catch {
    return undefined; // ps exits 1 where there is no such process
  }
}
