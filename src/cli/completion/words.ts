/** `rookery complete`: prints the words that complete an argument, for the completion scripts. Never fails. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { shortId } from "../../domain/ids.ts";
import { homeFolder } from "../../config/home.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, print } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";
import type { CompletionKind } from "./kinds.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import type { Store } from "../../domain/task/store.ts";

export interface CompletionCandidate {
  readonly word: string;
  readonly summary?: string | undefined;
}

/** More would not fit on a screen. */
const MAX_CANDIDATES = 100;
const MAX_SUMMARY = 60;
/** The shells expand some other characters, and no id or name needs them. */
const SAFE_WORD = /^[\p{L}\p{N}_.:/@+-]+$/u;

/** Prints one word per line, with a tab and a summary. */
export async function completeWordsCommand({ io, args }: CommandCall): Promise<ExitCode> {
  const [kind = "", typed = "", previous = ""] = args;
  const found = await findCandidates(io, kind as CompletionKind, previous).catch(() => []);
  const lines = found
    .filter(({ word }) => word.startsWith(typed) && SAFE_WORD.test(word))
    .slice(0, MAX_CANDIDATES)
    .map(({ word, summary = "" }) => `${word}\t${toSingleLine(summary, MAX_SUMMARY)}\n`);
  await print(io, lines.join(""));
  return EXIT.done;
}

/** `previous`: the word before the one to complete. */
async function findCandidates(io: Io, kind: CompletionKind, previous: string): Promise<readonly CompletionCandidate[]> {
  switch (kind) {
    case "agents":
    case "models":
    case "servers":
    case "pipelines":
      return (await import("./configured-words.ts")).configuredCandidates(io, kind);
    case "sessions":
      return withStore(io, listSessions);
    case "tasks":
      return withStore(io, listTasks);
    case "conversations":
      return withStore(io, async (store) => [...(await listTasks(store)), ...(await listSessions(store))]);
    case "requests":
      return withStore(io, (store) => listRequests(store, previous, io));
    case "files":
    case "directories":
      return [];
  }
}

/** Opens the store directly: unlike `Rookery.open`, this ends no orphans and makes no owner. */
async function withStore(
  io: Io,
  list: (store: Store) => Promise<CompletionCandidate[]>,
): Promise<readonly CompletionCandidate[]> {
  const path = join(homeFolder(io.env), "rookery.db");
  if (!existsSync(path)) return [];
  const { openSqliteStore } = await import("../../store/sqlite/open.ts");
  await using store = await openSqliteStore({ path, lockTimeout: 100 });
  return await list(store);
}

async function listSessions(store: Store): Promise<CompletionCandidate[]> {
  const sessions = await store.list({ limit: MAX_CANDIDATES });
  const [newest] = sessions;
  const last = newest === undefined ? [] : [{ word: "last", summary: "your newest session in this repository" }];
  return [...last, ...sessions.map((session) => ({ word: shortId(session.id), summary: describeSession(session) }))];
}

function describeSession({ agent, status, title = "" }: SessionSummary): string {
  return `${status} ${agent}: ${title}`;
}

async function listTasks(store: Store): Promise<CompletionCandidate[]> {
  const tasks = await store.tasks({ limit: MAX_CANDIDATES });
  const last = tasks.length === 0 ? [] : [{ word: "last", summary: "the newest task of this repository" }];
  return [...last, ...tasks.map(({ id, phase, spec }) => ({ word: id, summary: `${phase}: ${spec.title}` }))];
}

/** Open requests of a session, or of the sessions of a task. */
async function listRequests(store: Store, named: string, io: Io): Promise<CompletionCandidate[]> {
  const session = await findNamedSession(store, named, io);
  const sessions = session === undefined ? await store.list({ task: named, limit: MAX_CANDIDATES }) : [session];
  return sessions.flatMap(({ waitingFor, agent }) =>
    waitingFor.map((word) => ({ word, summary: `asked by ${agent}` })),
  );
}

async function findNamedSession(store: Store, named: string, io: Io): Promise<SessionSummary | undefined> {
  if (named === "") return undefined;
  const { findSession } = await import("../sessions/find.ts");
  return findSession(store, named, io).catch(() => undefined);
}
