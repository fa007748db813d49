/** A child that is owned whole: it is ended with everything that it started, in its group and outside of it. */
import type { Readable } from "node:stream";
import { deferred, killMarked, settlesWithin, startGroup, type ProcessGroup } from "../stdx/index.ts";
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

  private constructor(group: ProcessGroup) {
    this.group = group;
  }

  /** What this child and everything that it starts carries, and nothing else. */
  get marker(): string {
    return this.group.marker;
  }

  /** Rejects with `agent_unavailable` or `cwd_missing`. */
  static async start(program: string, args: readonly string[], options: OwnedOptions): Promise<OwnedChild> {
    const { cwd, env, marker = "", stdin = "ignore" } = options;
    try {
      return new OwnedChild(await startGroup(program, args, { cwd, env, marker, stdin }));
    } catch (error) {
      throw await startFailure(program, cwd, error);
    }
  }

  /** TERM to the group, KILL after the grace. Signals nothing once the child has ended. */
  async end(graceMs: number): Promise<void> {
    this.group.signal("SIGTERM");
    if (!(await settlesWithin(graceMs, this.group.ended))) this.group.signal("SIGKILL");
    await this.group.ended;
  }

  /** Kills what outlives the child, in its group or outside of it. */
  async sweep(): Promise<void> {
    await killMarked(this.marker);
  }
}

/** Resolves when everything of the stream was read, or nothing more will be. */
export function streamEnded(stream: Readable | null): Promise<void> {
  const end = deferred();
  if (stream === null || stream.readableEnded || stream.destroyed) end.resolve();
  else stream.once("end", () => end.resolve()).once("close", () => end.resolve());
  return end.promise;
}
