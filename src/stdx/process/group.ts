/** Starts a child in its own process group, so that stopping it also stops what it started. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../deferred.ts";
import type { EnvironmentVariables } from "../environment.ts";
import { startTimeOf, type ProcessIdentity } from "./identity.ts";
import { taggedCommand } from "./limit-tag.ts";
import { killMarkedInGroup, withMarker } from "./marker.ts";
import { checkStart } from "./start-check.ts";

export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessGroup extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  readonly child: ChildProcess;
  /** Identifies this group and everything that it starts. Pass it to `killMarked`. */
  readonly marker: string;
  /** Resolves when the leader has ended. Descendants may still hold its output open. */
  readonly ended: Promise<void>;
  /** Resolves when the leader has ended and its output has been read to the end. */
  readonly exited: Promise<ProcessExit>;
  /** Signals the whole group. Returns false, and signals nothing, once the leader has ended. */
  signal(signal: NodeJS.Signals): boolean;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the whole group has ended. Default: 2 s. */
  stop(graceMs?: number): Promise<void>;
}

export interface GroupOptions {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  /** One or more markers, comma-separated, the owner's first. Added to the markers in `env`. */
  readonly marker: string;
  /** Default: `ignore`. */
  readonly stdin?: "pipe" | "ignore";
  /**
   * Whether descendants are also found when they lose their environment, which costs the start of a shell (about 1 ms).
   * Default: true. False for programs that run often and start no daemons.
   */
  readonly tagged?: boolean;
}

const GRACE_MS = 2_000;

/** Rejects if the program cannot be started, or with the error of a `StartCheck` of its owner. */
export async function startGroup(
  command: string,
  args: readonly string[],
  options: GroupOptions,
): Promise<ProcessGroup> {
  const { cwd, stdin = "ignore", tagged = true } = options;
  const doubt = checkStart(options.marker);
  if (doubt !== undefined) await doubt;
  const own = `group-${randomBytes(6).toString("hex")}`;
  const markers = options.marker === "" ? own : `${options.marker},${own}`;
  const env = withMarker(options.env, markers);
  const line = tagged ? taggedCommand({ command, args }, markers, { cwd, env }) : { command, args };
  const child = spawn(line.command, line.args, { cwd, env, stdio: [stdin, "pipe", "pipe"], detached: true });
  const started = deferred();
  const ended = deferred();
  const closed = deferred<ProcessExit>();
  child.once("spawn", () => started.resolve());
  child.once("error", (error) => started.reject(error));
  child.once("exit", () => ended.resolve());
  child.once("close", (exitCode, signal) => closed.resolve({ exitCode, signal }));
  await started.promise;
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} has no process id`);
  // Until Node has reaped the leader, the system does not reuse its pid.
  const isReaped = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const signal = (name: NodeJS.Signals): boolean => !isReaped() && signalGroup(pid, name);
  const end = async (graceMs: number): Promise<void> => {
    if (signal("SIGTERM")) await Promise.race([ended.promise, sleep(graceMs, undefined, { ref: false })]);
    signal("SIGKILL");
    await ended.promise;
    if (groupExists(pid)) await killMarkedInGroup(markers, pid); // descendants that outlived the leader
    // A descendant that left the group may hold the pipes open forever.
    child.stdout?.destroy();
    child.stderr?.destroy();
    await closed.promise;
  };
  let stopping: Promise<void> | undefined;
  const stop = (graceMs = GRACE_MS): Promise<void> => (stopping ??= end(graceMs));
  return {
    identity: { pid, startTime: startTimeOf(pid) ?? "ended" },
    child,
    marker: markers,
    ended: ended.promise,
    exited: closed.promise,
    signal,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false; // the group has ended
  }
}

/** Sends no signal: the id may belong to another group by now, so the caller checks each process. */
function groupExists(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
