/** What the agent knows of files: a change must begin from what it has seen. */
import { createHash } from "node:crypto";
import { ToolRefusal } from "../tool.ts";

/** The one that was looked at longest ago is forgotten first, and must be read again. */
const MOST_FILES = 10_000;

/** Of one agent in one session, for as long as it is open. Files are known by their real paths. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>();

  note(real: string, bytes: Uint8Array): void {
    this.#hashes.delete(real);
    this.#hashes.set(real, hashOf(bytes));
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > MOST_FILES && oldest !== undefined) this.#hashes.delete(oldest);
  }

  /** Throws a ToolRefusal where what stands there is not what the agent last saw. */
  mustKnow(real: string, path: string, bytes: Uint8Array): void {
    const known = this.#hashes.get(real);
    if (known === undefined) {
      throw new ToolRefusal(
        `${path} was not read since this session was opened: read it first, then change what stands there`,
      );
    }
    if (known !== hashOf(bytes)) {
      throw new ToolRefusal(`${path} has changed since it was read: read it again, then change what stands there now`);
    }
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
