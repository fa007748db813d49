/** What the agent knows of files: a change must begin from what it has seen. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { SessionEvent, ToolResult } from "../../../domain/index.ts";
import { ToolRefusal } from "../tool.ts";

/** The session so far; undefined where there is none to be read. */
export type Earlier = () => AsyncIterable<SessionEvent> | undefined;

/** The one that was looked at longest ago is forgotten first. */
const MOST_FILES = 10_000;

/** What the log keeps of a file that was read or written. */
const Kept = z.object({ file: z.string(), sha256: z.string() });

/** Of one agent in one session. Files are known by their real paths. */
export class SeenFiles {
  readonly #earlier: Earlier;
  readonly #hashes = new Map<string, string>();

  constructor(earlier: Earlier = () => undefined) {
    this.#earlier = earlier;
  }

  /** What it gives back goes with the result of the call, and so to the log. */
  note(real: string, bytes: Uint8Array): Pick<ToolResult, "structured"> {
    const sha256 = hashOf(bytes);
    this.#keep(real, sha256);
    return { structured: { file: real, sha256 } satisfies z.infer<typeof Kept> };
  }

  /**
   * Rejects with a ToolRefusal where what stands there is not what the agent last saw. What this process does not know
   * is looked up in the log: another one may have read it, before it was killed or ended, or another agent of the session.
   */
  async mustKnow(real: string, path: string, bytes: Uint8Array): Promise<void> {
    const now = hashOf(bytes);
    const known = this.#hashes.get(real);
    if (known === now) return;
    const logged = await this.#logged(real);
    if (logged === now) return this.#keep(real, now);
    if (known === undefined && logged === undefined) {
      throw new ToolRefusal(`${path} was not read in this conversation: read it first, then change what stands there`);
    }
    throw new ToolRefusal(`${path} has changed since it was read: read it again, then change what stands there now`);
  }

  #keep(real: string, sha256: string): void {
    this.#hashes.delete(real);
    this.#hashes.set(real, sha256);
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > MOST_FILES && oldest !== undefined) this.#hashes.delete(oldest);
  }

  async #logged(real: string): Promise<string | undefined> {
    let last: string | undefined;
    for await (const event of this.#earlier() ?? []) {
      if (event.type === "conversation.replaced") last = undefined;
      if (event.type !== "tool.ended") continue;
      const kept = Kept.safeParse(event.structured);
      if (kept.success && kept.data.file === real) last = kept.data.sha256;
    }
    return last;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

const turns = new Map<string, Promise<unknown>>();

/** Changes to one file come one after the other, in all sessions of this process. */
export async function inTurn<T>(real: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(real) ?? Promise.resolve();
  const done = before.then(work, work);
  turns.set(real, done);
  try {
    return await done;
  } finally {
    if (turns.get(real) === done) turns.delete(real);
  }
}
