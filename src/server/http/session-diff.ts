/** The file changes of a session or of one of its turns, from what its tools recorded in the log. */
import { posix } from "node:path";
import { addDiff, type CombinedDiffs } from "../../domain/combine-diffs.ts";
import { formatFilePatch } from "../../domain/format-patch.ts";
import { isRookeryError, type ChangedFile, type Store, type TaskDiff } from "../../domain/index.ts";
import { readSessionPages } from "../../session/index.ts";
import { nextLoopSlice } from "../../stdx/index.ts";
import { HttpRefusal } from "./problem.ts";

export interface SessionDiff extends TaskDiff {
  /** How many commands ran. The log does not have the files that they changed. */
  readonly commands: number;
}

export interface SessionDiffQuery {
  readonly turnId?: string | undefined;
  /** Include the patch text. Default: false. */
  readonly patch?: boolean | undefined;
}

/** Changes beyond these are not read. */
const MAX_FILES = 10_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Child sessions whose changes are included. Further ones are left out. */
const MAX_CHILDREN = 100;
const MAX_PATCH_LENGTH = 4 * 1024 * 1024;

/** Rejects with `session_not_found`, or refuses a turn that the session does not have. */
export async function readSessionDiff(
  store: Store,
  sessionId: string,
  { turnId, patch = false }: SessionDiffQuery,
): Promise<SessionDiff> {
  const reader = new DiffReader(store);
  const found = await reader.read(sessionId, turnId);
  if (!found) {
    const at = "query.turn";
    const fix = "its turn.started events have the ids of its turns";
    throw new HttpRefusal("malformed", `${at}: session ${sessionId} has no such turn: ${fix}`, { at });
  }
  const files: ChangedFile[] = [];
  const texts: string[] = [];
  let length = 0;
  let { truncated } = reader;
  for (const [path, diffs] of [...reader.diffs].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await nextLoopSlice();
    const formatted = formatFilePatch(path, diffs);
    files.push(formatted.file);
    truncated ||= formatted.truncated;
    if (!patch) continue;
    const text = `${formatted.lines.join("\n")}\n`;
    length += text.length;
    if (length <= MAX_PATCH_LENGTH) texts.push(text);
    else truncated = true;
  }
  const sum = (of: "additions" | "deletions"): number => files.reduce((total, file) => total + (file[of] ?? 0), 0);
  return {
    base: turnId ?? sessionId,
    files,
    additions: sum("additions"),
    deletions: sum("deletions"),
    commits: [],
    uncommitted: false,
    ...(patch && { patch: texts.join("") }),
    truncated,
    commands: reader.commands,
  };
}

class DiffReader {
  readonly diffs: CombinedDiffs = new Map();
  commands = 0;
  truncated = false;
  readonly #store: Store;
  readonly #read = new Set<string>();
  #characters = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads the whole log, or one turn of it. Resolves with false if there is no such turn. */
  async read(sessionId: string, turnId: string | undefined): Promise<boolean> {
    this.#read.add(sessionId);
    let found = turnId === undefined;
    let cwd = "/";
    const running = new Set<string>();
    for await (const page of readSessionPages(this.#store, sessionId)) {
      for (const event of page) {
        if (event.type === "session.opened") ({ cwd } = event);
        if (turnId !== undefined && event.turnId !== turnId) continue;
        found = true;
        switch (event.type) {
          case "tool.started":
            if (event.kind === "execute") this.commands += 1;
            break;
          case "tool.ended":
            if (event.outcome !== "ok" && event.outcome !== "unknown") break;
            for (const diff of event.diffs ?? []) this.#add({ ...diff, path: toShownPath(cwd, diff.path) });
            break;
          case "subagent.started":
            running.add(event.childSessionId);
            break;
          case "subagent.ended":
            if (running.delete(event.childSessionId)) await this.#readChild(event.childSessionId);
            break;
          default: // other events change no files
        }
      }
    }
    for (const child of running) await this.#readChild(child);
    return found;
  }

  async #readChild(sessionId: string): Promise<void> {
    if (this.#read.has(sessionId)) return;
    if (this.#read.size > MAX_CHILDREN) {
      this.truncated = true;
      return;
    }
    await this.read(sessionId, undefined).catch((error: unknown) => {
      if (!isRookeryError(error, "session_not_found")) throw error;
      this.truncated = true; // it was deleted
    });
  }

  #add(diff: Parameters<typeof addDiff>[1]): void {
    this.#characters += (diff.before?.length ?? 0) + (diff.after?.length ?? 0);
    const fits = this.#characters <= MAX_CHARACTERS && (this.diffs.has(diff.path) || this.diffs.size < MAX_FILES);
    if (fits) addDiff(this.diffs, diff);
    else this.truncated = true;
  }
}

/** Relative to the working directory if the file is in it. */
function toShownPath(cwd: string, path: string): string {
  const absolute = posix.resolve(cwd, path);
  const prefix = cwd.endsWith("/") ? cwd : `${cwd}/`;
  return absolute.startsWith(prefix) ? absolute.slice(prefix.length) : absolute;
}
