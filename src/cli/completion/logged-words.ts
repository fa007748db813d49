/** Lists sessions, tasks and requests of the log for completion. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { shortId } from "../../domain/ids.ts";
import { homeFolder } from "../../config/home.ts";
import { readStoreConfig } from "../../config/store-config.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import type { Store } from "../../domain/task/store.ts";
import type { Io } from "../io.ts";
import { type CompletionCandidate, MAX_CANDIDATES } from "./candidate.ts";

/** `named`: for requests, the session or task before them. Without one, lists the requests of all sessions. */
export async function loggedCandidates(
  io: Io,
  kind: "sessions" | "tasks" | "conversations" | "waiting" | "requests",
  named: string | undefined,
): Promise<readonly CompletionCandidate[]> {
  await using store = await openForReading(io);
  if (store === undefined) return [];
  switch (kind) {
    case "sessions":
      return [...(await lastSession(store, io)), ...(await listSessions(store))];
    case "tasks":
      return [...(await lastTask(store)), ...(await listTasks(store))];
    case "conversations":
      return [...(await lastSession(store, io)), ...(await listTasks(store)), ...(await listSessions(store))];
    case "waiting":
      return await listWaiting(store);
    case "requests":
      return await listRequests(store, named, io);
  }
}

const DATABASE_TIMEOUT_MS = 1_000;

/** Opens the store directly: unlike `Rookery.open`, this ends no orphans and makes no owner. Undefined if it is empty. */
async function openForReading(io: Io): Promise<Store | undefined> {
  const configured = await readStoreConfig(io.env);
  if (configured !== undefined) {
    const { openPostgresStore } = await import("../../store/postgres/open.ts");
    return openPostgresStore({ ...configured, timeout: DATABASE_TIMEOUT_MS });
  }
  const path = join(homeFolder(io.env), "rookery.db");
  if (!existsSync(path)) return undefined;
  const { openSqliteStore } = await import("../../store/sqlite/open.ts");
  return openSqliteStore({ path, lockTimeout: 100 });
}

async function lastSession(store: Store, io: Io): Promise<CompletionCandidate[]> {
  const { findLastSession } = await import("../sessions/last.ts");
  const found = await findLastSession(store, io.cwd()).catch(() => undefined);
  return found === undefined ? [] : [{ word: "last", summary: `your newest here: ${describeSession(found)}` }];
}

async function listSessions(store: Store): Promise<CompletionCandidate[]> {
  const sessions = await store.list({ limit: MAX_CANDIDATES });
  return sessions.map((session) => ({ word: shortId(session.id), summary: describeSession(session) }));
}

function describeSession({ agent, status, title = "" }: SessionSummary): string {
  return `${status} ${agent}: ${title}`;
}

async function lastTask(store: Store): Promise<CompletionCandidate[]> {
  const [newest] = await store.tasks({ limit: 1 });
  return newest === undefined ? [] : [{ word: "last", summary: "the newest task of this repository" }];
}

async function listTasks(store: Store): Promise<CompletionCandidate[]> {
  const tasks = await store.tasks({ limit: MAX_CANDIDATES });
  return tasks.map(({ id, phase, spec }) => ({ word: id, summary: `${phase}: ${spec.title}` }));
}

/** Names the task of a session that belongs to one, as the inbox does. */
async function listWaiting(store: Store): Promise<CompletionCandidate[]> {
  const { listWaitingRequests } = await import("../../session/waiting-requests.ts");
  const words = new Map<string, CompletionCandidate>();
  for (const { sessionId, task, title } of await listWaitingRequests(store)) {
    const word = task ?? shortId(sessionId);
    if (!words.has(word)) words.set(word, { word, summary: title });
  }
  return [...words.values()];
}

/** Open requests of a session, or of the sessions of a task. */
async function listRequests(store: Store, named: string | undefined, io: Io): Promise<CompletionCandidate[]> {
  const { listWaitingRequests } = await import("../../session/waiting-requests.ts");
  const session = named === undefined ? undefined : await findNamedSession(store, named, io);
  const waiting = await listWaitingRequests(store);
  return waiting
    .filter(({ sessionId, task }) => sessionId === session?.id || (named !== undefined && task === named))
    .map(({ requestId, title }) => ({ word: requestId, summary: title }));
}

async function findNamedSession(store: Store, named: string, io: Io): Promise<SessionSummary | undefined> {
  const { findSession } = await import("../sessions/find.ts");
  return findSession(store, named, io).catch(() => undefined);
}
