/** A child that is owned whole: it is ended with everything that it started, in its group and outside of it. */
import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred, killMarked, startGroup, startTimeOf, type ProcessGroup } from "../stdx/index.ts";
import { startFailure } from "./failure.ts";

export interface OwnedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of an owner, in the environment beside the child's own. */
  readonly marker?: string | undefined;
  readonly stdin?: "pipe" | "ignore";
}

export class OwnedChild {
  readonly group: ProcessGroup;
  /** In the environment of this child and of everything that it starts, and of nothing else. */
  readonly marker: string;

  private constructor(group: ProcessGroup, marker: string) {
    this.group = group;
    this.marker = marker;
  }

  /** Rejects with `agent_unavailable` or `cwd_missing`. */
  static async start(program: string, args: readonly string[], options: OwnedOptions): Promise<OwnedChild> {
    const { cwd, env, stdin = "ignore" } = options;
    const own = `child-${randomBytes(6).toString("hex")}`;
    const marker = options.marker === undefined ? own : `${options.marker},${own}`;
    try {
      return new OwnedChild(await startGroup(program, args, { cwd, env, marker, stdin }), own);
    } catch (error) {
      throw await startFailure(program, cwd, error);
    }
  }

  /** TERM to the group, KILL after the grace. Only while the child has not been seen to end. */
  async end(graceMs: number): Promise<void> {
    this.#signal("SIGTERM");
    if (!(await within(graceMs, this.group.ended))) this.#signal("SIGKILL");
    await this.group.ended;
  }

  /** Kills what outlives the child. To be called soon after its end: later the group's number may be a stranger's. */
  async sweep(): Promise<void> {
    // While anything of the group lives, no process can get its number.
    if (startTimeOf(this.group.identity.pid) === undefined) this.#signal("SIGKILL");
    await killMarked(this.marker);
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.group.identity.pid, signal);
    } catch {
      // no such group any more
    }
  }
}

/** Resolves when everything of the stream was read, or nothing more will be. */
export function streamEnded(stream: Readable | null): Promise<void> {
  const end = deferred();
  if (stream === null || stream.readableEnded || stream.destroyed) end.resolve();
  else stream.once("end", () => end.resolve()).once("close", () => end.resolve());
  return end.promise;
}

/** Whether it came in time. */
export async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([event.then(() => true), late]);
  timer.abort();
  return inTime;
}
