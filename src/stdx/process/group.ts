/** A child in a process group of its own, so that ending it ends what it started. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../deferred.ts";
import { startTimeOf, type ProcessIdentity } from "./identity.ts";
import { taggedCommand } from "./limit-tag.ts";
import { killMarkedInGroup, withMarker } from "./marker.ts";
import { checkStart } from "./start-check.ts";

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessGroup extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  readonly child: ChildProcess;
  /** Carried by this group and everything that it starts, and by nothing else. Pass it to `killMarked`. */
  readonly marker: string;
  /** Resolves when the leader ended; others may hold its output open. */
  readonly ended: Promise<void>;
  /** Resolves when the leader ended and its output was read to the end. */
  readonly exited: Promise<Exit>;
  /** Signals the whole group. Returns false, and signals nothing, once the leader has ended. */
  signal(signal: NodeJS.Signals): boolean;
  /** TERM to the group, KILL after the grace; resolves when the leader is gone and what is left of the group. */
  stop(graceMs?: number): Promise<void>;
}

export interface GroupOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One marker, or several with commas between, the owner's first; added to what `env` has already. */
  readonly marker: string;
  /** Nothing can be written to the child if not said. */
  readonly stdin?: "pipe" | "ignore";
  /**
   * Whether descendants are also found when they lose their environment, which costs the start of a shell (about 1 ms).
   * Default: true. False for programs that run often and start no daemons.
   */
  readonly tagged?: boolean;
}

const GRACE_MS = 2_000;

/** Rejects where the program cannot be started, or with what a `StartCheck` of its owner says. */
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
  const closed = deferred<Exit>();
  child.once("spawn", () => started.resolve());
  child.once("error", (error) => started.reject(error));
  child.once("exit", () => ended.resolve());
  child.once("close", (exitCode, signal) => closed.resolve({ exitCode, signal }));
  await started.promise;
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} has no process id`);
  // Until Node has seen the leader's end, nobody has waited for it, and the system gives its number to nobody else.
  const isReaped = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const signal = (name: NodeJS.Signals): boolean => !isReaped() && signalGroup(pid, name);
  const end = async (graceMs: number): Promise<void> => {
    if (signal("SIGTERM")) await Promise.race([ended.promise, sleep(graceMs, undefined, { ref: false })]);
    signal("SIGKILL");
    await ended.promise;
    if (groupExists(pid)) await killMarkedInGroup(markers, pid); // what outlives its leader
    // A descendant that left the group may hold the pipes open for ever; the leader's end is what counts.
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
    return false; // no such group any more
  }
}

/** Sends no signal: by now the number may belong to another group, so its processes are checked one by one. */
function groupExists(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
