/** The sessions that Codex keeps: one file per session, in folders by date (0.166.0). */
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import {
  RookeryError,
  isRookeryError,
  type ImportedEvent,
  type NativeConversation,
  type NativeSessionSummary,
} from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { ImportedTurns } from "../history/imported-turns.ts";
import { MAX_NATIVE_SESSIONS, type NativeHistory } from "../history/native-history.ts";
import { openRecordFile, SkippedRecords, unreadable, type RecordFile } from "../history/record-file.ts";
import { CodexHistoryImport, type RolloutFeatures } from "./history-import.ts";
import {
  ItemCompleted,
  SessionMeta,
  UserMessageItem,
  isKnownLineType,
  parseRolloutLine,
  type RolloutLine,
} from "./history-record.ts";

export const codexHistory: NativeHistory = { list: listCodexSessions, open: openCodexSession };

/** A list reads this much of each file. The first line has the instructions of the model. */
const HEAD_BYTES = 256 * 1024;
/** A list reads this many files, newest first, because the name of a file does not have the working directory. */
const MAX_LISTED_FILES = 500;
const FILE_NAME = /rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;

async function listCodexSessions(env: EnvironmentVariables, cwd: string): Promise<readonly NativeSessionSummary[]> {
  const root = join(codexFolder(env), "sessions");
  const names = (await readTree(root)).filter((name) => FILE_NAME.test(name));
  const newest = names.sort((one, other) => basename(other).localeCompare(basename(one))).slice(0, MAX_LISTED_FILES);
  const found: NativeSessionSummary[] = [];
  for (const name of newest) {
    const summary = await readSummary(join(root, name)).catch((error: unknown) => {
      if (isRookeryError(error)) return undefined; // it cannot be adopted
      throw error;
    });
    if (summary?.cwd === cwd) found.push(summary);
    if (found.length === MAX_NATIVE_SESSIONS) break;
  }
  return found;
}

async function openCodexSession(env: EnvironmentVariables, nativeId: string): Promise<NativeConversation> {
  for (const folder of ["sessions", "archived_sessions"]) {
    const root = join(codexFolder(env), folder);
    const name = (await readTree(root)).find((each) => FILE_NAME.exec(each)?.[1] === nativeId);
    if (name === undefined) continue;
    const path = join(root, name);
    const file = await openRecordFile(path);
    try {
      return await readConversation(path, nativeId, file);
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }
  throw new RookeryError(
    "native_session_not_found",
    `Codex has no session ${nativeId} in ${codexFolder(env)}: list the sessions of this directory with \`rookery sessions adopt\``,
  );
}

/** Reads the file once for its facts, and again for its events. */
async function readConversation(path: string, nativeId: string, file: RecordFile): Promise<NativeConversation> {
  const skipped = new SkippedRecords();
  const rollbacks = new Rollbacks();
  let meta: SessionMeta | undefined;
  let [hasTasks, hasItems, hasConversation] = [false, false, false];
  for await (const { record, line } of file.records(skipped)) {
    const rollout = parseRolloutLine(record);
    if (rollout === undefined) skipped.addDamaged();
    else if (!isKnownLineType(rollout.type)) skipped.addUnknown(rollout.type);
    if (rollout === undefined) continue;
    if (rollout.type === "session_meta") meta ??= SessionMeta.safeParse(rollout.payload).data;
    const event = rollout.type === "event_msg" ? rollout.payload?.type : undefined;
    hasTasks ||= event === "task_started";
    hasItems ||= event === "item_completed";
    hasConversation ||= isPrompt(rollout);
    rollbacks.add(rollout, line);
  }
  if (meta === undefined || !hasConversation) throw unreadable(path, "it has no conversation");
  const turns = new ImportedTurns(meta.timestamp ?? file.modifiedAt.toISOString());
  const features = { hasTasks, hasItems };
  return {
    nativeId,
    cwd: meta.cwd,
    version: meta.cli_version ?? undefined,
    startedAt: turns.time,
    read: (putBlob) => readEvents(file, { ...features, rollbacks, turns, skipped, putBlob }),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

interface EventSource extends RolloutFeatures {
  readonly rollbacks: Rollbacks;
  readonly turns: ImportedTurns;
  readonly skipped: SkippedRecords;
  readonly putBlob: (bytes: Uint8Array) => Promise<string>;
}

async function* readEvents(file: RecordFile, { rollbacks, ...parts }: EventSource): AsyncIterable<ImportedEvent> {
  const { turns, skipped } = parts;
  const importer = new CodexHistoryImport(parts);
  for await (const { record, line } of file.records(new SkippedRecords())) {
    const rollout = rollbacks.has(line) ? undefined : parseRolloutLine(record);
    if (rollout !== undefined) yield* await importer.add(rollout);
  }
  yield* importer.end();
  const message = skipped.describe("Codex");
  if (message !== undefined) turns.warn("history_incomplete", message);
  yield* turns.take();
}

/** The lines of turns that the user took back. */
class Rollbacks {
  /** The lines at which turns start. */
  readonly #starts: number[] = [];
  readonly #ranges: { readonly from: number; readonly to: number }[] = [];
  #hasTasks = false;
  /** The line of a task without a prompt so far. */
  #taskAt: number | undefined;

  add(rollout: RolloutLine, line: number): void {
    const { type, payload } = rollout;
    if (type === "event_msg" && payload?.type === "task_started") {
      this.#hasTasks = true;
      this.#taskAt = line;
    }
    if (isPrompt(rollout)) {
      if (this.#taskAt !== undefined || !this.#hasTasks) this.#starts.push(this.#taskAt ?? line);
      this.#taskAt = undefined; // another prompt of the same task steers it
    }
    if (type !== "event_msg" || payload?.type !== "thread_rolled_back") return;
    const count = payload["num_turns"];
    const dropped = typeof count === "number" && count > 0 ? this.#starts.splice(-Math.trunc(count)) : [];
    const [from] = dropped;
    if (from !== undefined) this.#ranges.push({ from, to: line });
  }

  has(line: number): boolean {
    return this.#ranges.some(({ from, to }) => line >= from && line <= to);
  }
}

function isPrompt(rollout: RolloutLine): boolean {
  return readPrompt(rollout) !== undefined;
}

/** Returns the text of a prompt. */
function readPrompt({ type, payload }: RolloutLine): string | undefined {
  if (type !== "event_msg") return undefined;
  if (payload?.type === "user_message") {
    const { message } = payload;
    return typeof message === "string" ? message : undefined;
  }
  if (payload?.type !== "item_completed") return undefined;
  const { data } = ItemCompleted.safeParse(payload);
  const content = UserMessageItem.safeParse(data?.item).data?.content;
  return content?.map(({ text }) => text ?? "").join("\n");
}

async function readSummary(path: string): Promise<NativeSessionSummary | undefined> {
  await using file = await openRecordFile(path);
  const nativeId = FILE_NAME.exec(path)?.[1];
  let meta: SessionMeta | undefined;
  let title: string | undefined;
  for await (const { record } of file.records(new SkippedRecords(), { maxBytes: HEAD_BYTES })) {
    const rollout = parseRolloutLine(record);
    if (rollout === undefined) continue;
    if (rollout.type === "session_meta") meta ??= SessionMeta.safeParse(rollout.payload).data;
    title ??= readPrompt(rollout)?.trim().split("\n")[0];
    if (meta !== undefined && title !== undefined) break;
  }
  const isSubagent = typeof meta?.source === "object" && meta.source !== null;
  if (nativeId === undefined || meta === undefined || isSubagent) return undefined;
  return { backend: "codex", nativeId, cwd: meta.cwd, updatedAt: file.modifiedAt.toISOString(), title };
}

/** Returns no names if the folder does not exist or cannot be read. */
async function readTree(folder: string): Promise<string[]> {
  return readdir(folder, { recursive: true }).catch(() => []);
}

function codexFolder(env: EnvironmentVariables): string {
  return env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex");
}
