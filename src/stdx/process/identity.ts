/** Identifies a process by its pid and start time, because the system reuses pids. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { bootId } from "./pid-scope.ts";

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** The process may exist but cannot be read at the moment, for example because too many files are open. */
export const UNREADABLE = "unreadable";

/** The start time as text to compare. Undefined if there is no such process, `UNREADABLE` if it cannot be read. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === "linux" ? linuxStartTime(pid) : psStartTime(pid);
}

/** A process that cannot be read counts as alive, because it is not certainly dead. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  const found = startTimeOf(pid);
  return found === startTime || found === UNREADABLE;
}

/** Sends the signal if the pid still belongs to this process, which is checked right before. Returns whether it did. */
export function signalProcess({ pid, startTime }: ProcessIdentity, signal: NodeJS.Signals): boolean {
  try {
    return startTime !== UNREADABLE && startTimeOf(pid) === startTime && process.kill(pid, signal);
  } catch {
    return false; // it has just ended
  }
}

/** Whether the process is stopped (Ctrl-Z, SIGSTOP, a debugger). False if that is unknown. */
export function isStopped(identity: ProcessIdentity): boolean {
  try {
    const state = process.platform === "linux" ? linuxState(identity.pid) : psState(identity.pid);
    return /^[Tt]/.test(state) && startTimeOf(identity.pid) === identity.startTime;
  } catch {
    return false;
  }
}

let own: ProcessIdentity | undefined;

export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, startTime: startTimeOf(process.pid) ?? "unknown" };
  return own;
}

/** Includes the boot id, because ticks start at zero after each boot. A zombie counts as dead. */
function linuxStartTime(pid: number): string | undefined {
  try {
    const fields = statFields(pid);
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return `${bootId() ?? "0"}-${fields[19] ?? ""}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? undefined : UNREADABLE;
  }
}

function linuxState(pid: number): string {
  return statFields(pid)[0] ?? "";
}

/** The fields of proc(5) from the third on. The command name before them may contain anything. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** For macOS. Not tested there. */
function psStartTime(pid: number): string | undefined {
  try {
    const [, state, started] = /^(\S+)\s+(\S.*)$/.exec(ps("stat=,lstart=", pid).trim()) ?? [];
    return state === undefined || state.startsWith("Z") ? undefined : started?.replaceAll(/\s+/g, "_");
  } catch (error) {
    return (error as { readonly status?: number | null }).status === 1 ? undefined : UNREADABLE; // 1: no such process
  }
}

function psState(pid: number): string {
  return ps("stat=", pid).trim();
}

function ps(columns: string, pid: number): string {
  return execFileSync("ps", ["-o", columns, "-p", String(pid)], { encoding: "utf8", stdio: "pipe" });
}
