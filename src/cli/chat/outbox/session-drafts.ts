/** Keeps what a chat had not sent when it ended, for the input of the next chat of the session. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MAX_INPUT_BYTES } from "../../../session/input.ts";
import { makeFolder } from "../../../stdx/folder.ts";

/** The oldest ones are removed. */
const MAX_DRAFTS = 100;

export class SessionDrafts {
  readonly #folder: string;

  /** `home`: the directory of Rookery. */
  constructor(home: string) {
    this.#folder = join(home, "chat-drafts");
  }

  /**
   * Adds the text to the draft of the session, which another chat may have left. Resolves with false, and keeps that
   * draft, if both are together too long or the disk refuses it.
   */
  async keep(sessionId: string, text: string): Promise<boolean> {
    const file = this.#fileOf(sessionId);
    const temporary = `${file}.${randomUUID()}`;
    try {
      makeFolder(this.#folder);
      const earlier = existsSync(file) ? await readFile(file, "utf8") : "";
      const joined = earlier === "" ? text : `${earlier}\n\n${text}`;
      if (Buffer.byteLength(joined) > MAX_INPUT_BYTES) return false;
      await writeFile(temporary, joined, { mode: 0o600, flag: "wx" });
      await rename(temporary, file);
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
    await this.#removeOldest().catch(() => undefined); // the next chat tries again
    return true;
  }

  /** Returns the draft and removes it. Returns undefined if there is none, or if it cannot be read. */
  async take(sessionId: string): Promise<string | undefined> {
    const file = this.#fileOf(sessionId);
    try {
      const text = await readFile(file, "utf8");
      await rm(file, { force: true });
      return text === "" ? undefined : text;
    } catch {
      return undefined;
    }
  }

  #fileOf(sessionId: string): string {
    return join(this.#folder, `${sessionId}.txt`);
  }

  async #removeOldest(): Promise<void> {
    const names = await readdir(this.#folder);
    if (names.length <= MAX_DRAFTS) return;
    const drafts = await Promise.all(
      names.map(async (name) => {
        const file = join(this.#folder, name);
        return { file, at: (await stat(file)).mtimeMs };
      }),
    );
    const oldest = drafts.toSorted((one, other) => one.at - other.at).slice(0, names.length - MAX_DRAFTS);
    for (const { file } of oldest) await rm(file, { force: true });
  }
}
