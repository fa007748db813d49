/** The sessions that Claude Code keeps: one file per session, in a folder per working directory (2.1.325). */
import { readdir, stat } from "node:fs/promises";
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
import { HistoryTree, MAX_HISTORY_RECORDS } from "./history-branch.ts";
import { ClaudeHistoryImport, readTypedText } from "./history-import.ts";
import { isKnownType, parseHistoryRecord, type HistoryRecord } from "./history-record.ts";

export const claudeHistory: NativeHistory = { list: listClaudeSessions, open: openClaudeSession };

/** A list reads this much of each file. */
const HEAD_BYTES = 256 * 1024;
/** Longer names of folders end with a hash (2.1.325). */
const MAX_FOLDER_NAME = 200;
const FILE_NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;

async function listClaudeSessions(env: EnvironmentVariables, cwd: string): Promise<readonly NativeSessionSummary[]> {
  const root = projectsFolder(env);
  const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-");
  const isFolderOf = (folder: string): boolean =>
    name.length <= MAX_FOLDER_NAME ? folder === name : folder.startsWith(name.slice(0, MAX_FOLDER_NAME));
  const folders = (await readNames(root)).filter(isFolderOf);
  const paths = (await Promise.all(folders.map((folder) => listFiles(join(root, folder))))).flat();
  const newest = paths.sort((one, other) => other.modifiedMs - one.modifiedMs).slice(0, MAX_NATIVE_SESSIONS);
  const found: NativeSessionSummary[] = [];
  for (const { path } of newest) {
    const summary = await readSummary(path).catch((error: unknown) => {
      if (isRookeryError(error)) return undefined; // it cannot be adopted
      throw error;
    });
    if (summary?.cwd === cwd) found.push(summary); // names of different folders can be the same
  }
  return found;
}

async function openClaudeSession(env: EnvironmentVariables, nativeId: string): Promise<NativeConversation> {
  const root = projectsFolder(env);
  for (const folder of await readNames(root)) {
    const path = join(root, folder, `${nativeId}.jsonl`);
    const file = await openRecordFile(path).catch((error: unknown) => {
      if (isRookeryError(error, "native_session_not_found")) return undefined;
      throw error;
    });
    if (file === undefined) continue;
    try {
      return await readConversation(path, nativeId, file);
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }
  throw new RookeryError(
    "native_session_not_found",
    `Claude Code has no session ${nativeId} in ${root}: list the sessions of this directory with \`rookery sessions adopt\``,
  );
}

/** Reads the file once for the branch to import, and again for its events. */
async function readConversation(path: string, nativeId: string, file: RecordFile): Promise<NativeConversation> {
  const tree = new HistoryTree();
  const skipped = new SkippedRecords();
  let [cwd, version, startedAt, title]: (string | undefined)[] = [];
  for await (const { record: raw, line } of file.records(skipped)) {
    const record = parseHistoryRecord(raw);
    if (record === undefined) skipped.addDamaged();
    else if (!isKnownType(record.type)) skipped.addUnknown(record.type);
    if (record === undefined) continue;
    cwd ??= record.cwd ?? undefined;
    version = record.version ?? version;
    startedAt ??= record.timestamp ?? undefined;
    title = record.customTitle ?? record.aiTitle ?? record.summary ?? title;
    tree.add(record, line);
    if (tree.size > MAX_HISTORY_RECORDS) throw unreadable(path, `it has more than ${MAX_HISTORY_RECORDS} records`);
  }
  const lines = tree.lines();
  if (lines.size === 0 || cwd === undefined) throw unreadable(path, "it has no conversation");
  const turns = new ImportedTurns(startedAt ?? file.modifiedAt.toISOString());
  return {
    nativeId,
    cwd,
    title: title?.slice(0, MAX_TITLE_LENGTH),
    version,
    startedAt: turns.time,
    read: (putBlob) => readEvents(file, lines, { turns, skipped, importer: new ClaudeHistoryImport(turns, putBlob) }),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

const MAX_TITLE_LENGTH = 200;

interface EventSource {
  readonly turns: ImportedTurns;
  readonly skipped: SkippedRecords;
  readonly importer: ClaudeHistoryImport;
}

async function* readEvents(
  file: RecordFile,
  lines: ReadonlySet<number>,
  { turns, skipped, importer }: EventSource,
): AsyncIterable<ImportedEvent> {
  for await (const { record: raw, line } of file.records(new SkippedRecords())) {
    const record = lines.has(line) ? parseHistoryRecord(raw) : undefined;
    if (record !== undefined) yield* await importer.add(record);
  }
  yield* importer.end();
  const message = skipped.describe("Claude Code");
  if (message !== undefined) turns.warn("history_incomplete", message);
  yield* turns.take();
}

async function readSummary(path: string): Promise<NativeSessionSummary | undefined> {
  await using file = await openRecordFile(path);
  const nativeId = FILE_NAME.exec(basename(path))?.[1];
  let cwd: string | undefined;
  let title: string | undefined;
  for await (const { record: raw } of file.records(new SkippedRecords(), { maxBytes: HEAD_BYTES })) {
    const record: HistoryRecord | undefined = parseHistoryRecord(raw);
    if (record === undefined) continue;
    cwd ??= record.cwd ?? undefined;
    title ??= record.customTitle ?? record.aiTitle ?? record.summary ?? readTypedText(record);
    if (cwd !== undefined && title !== undefined) break;
  }
  if (nativeId === undefined || cwd === undefined) return undefined;
  return { backend: "claude-code", nativeId, cwd, updatedAt: file.modifiedAt.toISOString(), title };
}

async function listFiles(folder: string): Promise<{ readonly path: string; readonly modifiedMs: number }[]> {
  const paths = (await readNames(folder)).filter((name) => FILE_NAME.test(name)).map((name) => join(folder, name));
  return Promise.all(
    paths.map(async (path) => ({ path, modifiedMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
}

/** Returns no names if the folder does not exist or cannot be read. */
async function readNames(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function projectsFolder(env: EnvironmentVariables): string {
  return join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude"), "projects");
}
