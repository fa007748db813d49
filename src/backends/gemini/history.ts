/** The sessions that Gemini CLI keeps: files of changes to a list of messages, in a folder per project (0.61). */
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  RookeryError,
  isRookeryError,
  messageOf,
  type ImportedEvent,
  type NativeConversation,
  type NativeSessionSummary,
} from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { ImportedTurns } from "../history/imported-turns.ts";
import { MAX_NATIVE_SESSIONS, type NativeHistory } from "../history/native-history.ts";
import { openRecordFile, SkippedRecords, unreadable } from "../history/record-file.ts";
import { GeminiHistoryImport, joinTexts } from "./history-import.ts";
import { GeminiMessages, GeminiSessionHead, type GeminiMessage } from "./history-record.ts";

export const geminiHistory: NativeHistory = { list: listGeminiSessions, open: openGeminiSession };

/** The messages of a session are read into memory, because later records change earlier ones. */
const MAX_SESSION_BYTES = 128 * 1024 * 1024;
/** The name of a file ends with the start of the session's ID. */
const FILE_NAME = /^session-.*-([0-9a-f]{8})\.jsonl$/i;
const KNOWN_TYPES = new Set(["user", "gemini", "info", "error", "warning"]);

interface KeptSession {
  readonly path: string;
  readonly nativeId: string;
  readonly cwd: string;
  readonly startedAt: string | undefined;
  readonly modifiedAt: Date;
  readonly messages: readonly GeminiMessage[];
  readonly skipped: SkippedRecords;
}

async function listGeminiSessions(env: EnvironmentVariables, cwd: string): Promise<readonly NativeSessionSummary[]> {
  const newest = new Map<string, NativeSessionSummary>();
  for (const { folder, cwd: own } of await listProjects(env)) {
    if (own !== cwd) continue;
    const names = (await readNames(folder)).filter((name) => FILE_NAME.test(name));
    for (const name of names.sort().reverse().slice(0, MAX_NATIVE_SESSIONS)) {
      const kept = await readKeptSession(join(folder, name), own).catch(ignoreUnreadable);
      if (kept === undefined || newest.has(kept.nativeId)) continue;
      const { nativeId, modifiedAt, messages } = kept;
      const title = messages.flatMap((message) => readPrompt(message) ?? [])[0];
      newest.set(nativeId, { backend: "gemini-cli", nativeId, cwd, updatedAt: modifiedAt.toISOString(), title });
    }
  }
  return [...newest.values()].sort((one, other) => other.updatedAt.localeCompare(one.updatedAt));
}

/** A session that was resumed can have several files. The one with the longest conversation counts. */
async function openGeminiSession(env: EnvironmentVariables, nativeId: string): Promise<NativeConversation> {
  let found: KeptSession | undefined;
  let problem: Error | undefined;
  for (const { folder, cwd } of await listProjects(env)) {
    for (const name of await readNames(folder)) {
      if (FILE_NAME.exec(name)?.[1] !== nativeId.slice(0, 8)) continue;
      const kept = await readKeptSession(join(folder, name), cwd).catch((error: unknown) => {
        problem = error instanceof Error ? error : new Error(messageOf(error));
        return undefined;
      });
      if (kept?.nativeId === nativeId && kept.messages.length > (found?.messages.length ?? 0)) found = kept;
    }
  }
  if (found !== undefined) return toConversation(found);
  if (problem !== undefined) throw problem;
  throw new RookeryError(
    "native_session_not_found",
    `Gemini CLI has no session ${nativeId} in ${geminiFolder(env)}: list the sessions of this directory with \`rookery sessions adopt\``,
  );
}

function toConversation({ nativeId, cwd, messages, skipped, startedAt, modifiedAt }: KeptSession): NativeConversation {
  const turns = new ImportedTurns(startedAt ?? modifiedAt.toISOString());
  return {
    nativeId,
    cwd,
    startedAt: turns.time,
    async *read(putBlob): AsyncIterable<ImportedEvent> {
      const importer = new GeminiHistoryImport({ turns, cwd, putBlob });
      for (const message of messages) yield* await importer.add(message);
      yield* importer.end();
      const message = skipped.describe("Gemini CLI");
      if (message !== undefined) turns.warn("history_incomplete", message);
      yield* turns.take();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Rejects with `native_session_unreadable` if the file has no conversation. */
async function readKeptSession(path: string, cwd: string): Promise<KeptSession> {
  await using file = await openRecordFile(path, { maxBytes: MAX_SESSION_BYTES });
  const skipped = new SkippedRecords();
  const messages = new GeminiMessages();
  let head: GeminiSessionHead | undefined;
  for await (const { record } of file.records(skipped)) {
    head ??= GeminiSessionHead.safeParse(record).data;
    if (!messages.add(record)) skipped.addUnknown("record");
  }
  const all = messages.all();
  for (const { type } of all) if (!KNOWN_TYPES.has(type)) skipped.addUnknown(type);
  if (head === undefined || head.kind === "subagent" || !all.some((message) => readPrompt(message) !== undefined))
    throw unreadable(path, "it has no conversation");
  const { sessionId: nativeId, startTime } = head;
  return {
    path,
    nativeId,
    cwd,
    startedAt: startTime ?? undefined,
    modifiedAt: file.modifiedAt,
    messages: all,
    skipped,
  };
}

/** Returns the first line of a prompt. */
function readPrompt({ type, content }: GeminiMessage): string | undefined {
  if (type !== "user") return undefined;
  const text = joinTexts(content).trim();
  return text.startsWith("<session_context>") ? undefined : text.split("\n")[0] || undefined;
}

/** The folder of a project has a file with the working directory. */
async function listProjects(env: EnvironmentVariables): Promise<{ readonly folder: string; readonly cwd: string }[]> {
  const root = join(geminiFolder(env), "tmp");
  const projects = await Promise.all(
    (await readNames(root)).map(async (name) => {
      const cwd = await readFile(join(root, name, ".project_root"), "utf8").catch(() => "");
      return { folder: join(root, name, "chats"), cwd: cwd.trim() };
    }),
  );
  return projects.filter(({ cwd }) => cwd !== "");
}

/** Returns no names if the folder does not exist or cannot be read. */
async function readNames(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function ignoreUnreadable(error: unknown): undefined {
  if (!isRookeryError(error)) throw error;
}

function geminiFolder(env: EnvironmentVariables): string {
  return join(env["GEMINI_CLI_HOME"] || env["HOME"] || homedir(), ".gemini");
}
