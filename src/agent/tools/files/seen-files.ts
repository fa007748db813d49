/** Tracks which version of a file the agent last saw. A change must start from that version. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { SessionEvent, ToolResult } from "../../../domain/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";

/** Reads the events of the session so far. Returns undefined if there is no session. */
export type ReadSessionHistory = () => AsyncIterable<SessionEvent> | undefined;

/** The least recently used file is removed first. */
const MAX_FILES = 10_000;

/** What the log contains about a file that was read or written. */
const FileVersion = z.object({ file: z.string(), sha256: z.string() });

/** The files that one agent has seen in one session, by real path. */
export class SeenFiles {
  readonly #readHistory: ReadSessionHistory;
  readonly #hashes = new Map<string, string>();

  constructor(readHistory: ReadSessionHistory = () => undefined) {
    this.#readHistory = readHistory;
  }

  /**
   * Records the version that the agent sees now. Add the return value to the result of the call, so that the version is
   * in the log.
   */
  recordVersion(real: string, bytes: Uint8Array): Pick<ToolResult, "structured"> {
    const sha256 = hashBytes(bytes);
    this.#store(real, sha256);
    return { structured: { file: real, sha256 } satisfies z.infer<typeof FileVersion> };
  }

  /**
   * Rejects with a ToolRefusal if the file is not in the version that the agent last saw. If this process does not know
   * the file, the log is searched: an earlier process or another agent of the session may have read it.
   */
  async requireSeen(real: string, path: string, bytes: Uint8Array): Promise<void> {
    const now = hashBytes(bytes);
    const known = this.#hashes.get(real);
    if (known === now) return;
    const logged = await this.#findLoggedHash(real);
    if (logged === now) return this.#store(real, now);
    if (known === undefined && logged === undefined) {
      throw new ToolRefusal(`${path} was not read in this conversation: read it first, then change it`);
    }
    throw new ToolRefusal(`${path} has changed since it was read: read it again, then change it`);
  }

  #store(real: string, sha256: string): void {
    this.#hashes.delete(real);
    this.#hashes.set(real, sha256);
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > MAX_FILES && oldest !== undefined) this.#hashes.delete(oldest);
  }

  async #findLoggedHash(real: string): Promise<string | undefined> {
    let last: string | undefined;
    for await (const event of this.#readHistory() ?? []) {
      if (event.type === "conversation.replaced") last = undefined;
      if (event.type !== "tool.ended") continue;
      const version = FileVersion.safeParse(event.structured);
      if (version.success && version.data.file === real) last = version.data.sha256;
    }
    return last;
  }
}

function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

const fileChanges = new Map<string, Promise<unknown>>();

/** Runs changes to the same file one after another, across all sessions of this process. */
export async function runFileChange<T>(real: string, work: () => Promise<T>): Promise<T> {
  const before = fileChanges.get(real) ?? Promise.resolve();
  const done = before.then(work, work);
  fileChanges.set(real, done);
  try {
    return await done;
  } finally {
    if (fileChanges.get(real) === done) fileChanges.delete(real);
  }
}
