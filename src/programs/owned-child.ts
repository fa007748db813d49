/** A child process that is ended together with everything it started, inside and outside its process group. */
import type { Readable } from "node:stream";
import { deferred, killMarked, settlesWithin, startGroup, type ProcessGroup } from "../stdx/index.ts";
import { explainStartFailure } from "./start-failure.ts";

export interface OwnedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Marker of the owner, set in the environment in addition to the child's own marker. */
  readonly marker?: string | undefined;
  readonly stdin?: "pipe" | "ignore";
}

export class OwnedChild {
  readonly group: ProcessGroup;

  private constructor(group: ProcessGroup) {
    this.group = group;
  }

  /** Set in the environment of this child and everything it starts, and nowhere else. */
  get marker(): string {
    return this.group.marker;
  }

  /** Rejects with `agent_unavailable` or `cwd_missing`. */
  static async start(program: string, args: readonly string[], options: OwnedOptions): Promise<OwnedChild> {
    const { cwd, env, marker = "", stdin = "ignore" } = options;
    try {
      return new OwnedChild(await startGroup(program, args, { cwd, env, marker, stdin }));
    } catch (error) {
      throw await explainStartFailure(program, cwd, error);
    }
  }

  /** Sends SIGTERM to the group, and SIGKILL after the grace period. Does nothing if the child has exited. */
  async end(graceMs: number): Promise<void> {
    this.group.signal("SIGTERM");
    if (!(await settlesWithin(graceMs, this.group.ended))) this.group.signal("SIGKILL");
    await this.group.ended;
  }

  /** Kills surviving processes of the child, inside and outside its group. */
  async sweep(): Promise<void> {
    await killMarked(this.marker);
  }
}

/** Resolves when the stream has been read completely, or will deliver nothing more. */
export function streamEnded(stream: Readable | null): Promise<void> {
  const end = deferred();
  if (stream === null || stream.readableEnded || stream.destroyed) end.resolve();
  else stream.once("end", () => end.resolve()).once("close", () => end.resolve());
  return end.promise;
}
