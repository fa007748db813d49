/** A child in a process group of its own, so that ending it ends what it started. */
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../deferred.ts";
import { startTimeOf, type ProcessIdentity } from "./identity.ts";
import { withMarker } from "./marker.ts";

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessGroup extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  readonly child: ChildProcess;
  /** Resolves when the leader ended; others may hold its output open. */
  readonly ended: Promise<void>;
  /** Resolves when the leader ended and its output was read to the end. */
  readonly exited: Promise<Exit>;
  /** TERM to the group, KILL after the grace; resolves when the leader is gone. */
  stop(graceMs?: number): Promise<void>;
}

export interface GroupOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One marker, or several with commas between; added to what `env` has already. */
  readonly marker: string;
  /** Nothing can be written to the child if not said. */
  readonly stdin?: "pipe" | "ignore";
}

const GRACE_MS = 2_000;

/** Rejects where the program cannot be started. */
export async function startGroup(
  command: string,
  args: readonly string[],
  options: GroupOptions,
): Promise<ProcessGroup> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: withMarker(options.env, options.marker),
    stdio: [options.stdin ?? "ignore", "pipe", "pipe"],
    detached: true,
  });
  const started = deferred();
  const ended = deferred();
  const closed = deferred<Exit>();
  child.once("spawn", () => started.resolve());
  child.once("error", (error) => started.reject(error));
  child.once("exit", () => ended.resolve());
  child.once("close", (exitCode, signal) => closed.resolve({ exitCode, signal }));
  await started.promise;
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} has no process id`);
  const end = async (graceMs: number): Promise<void> => {
    signalGroup(pid, "SIGTERM");
    await Promise.race([ended.promise, sleep(graceMs, undefined, { ref: false })]);
    signalGroup(pid, "SIGKILL"); // also what outlives its leader
    // A descendant that left the group may hold the pipes open for ever; the leader's end is what counts.
    child.stdout?.destroy();
    child.stderr?.destroy();
    await closed.promise;
  };
  let stopping: Promise<void> | undefined; // once: a group's number may be a stranger's after its end
  const stop = (graceMs = GRACE_MS): Promise<void> => (stopping ??= end(graceMs));
  return {
    identity: { pid, startTime: startTimeOf(pid) ?? "ended" },
    child,
    ended: ended.promise,
    exited: closed.promise,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // no such group any more
  }
}
