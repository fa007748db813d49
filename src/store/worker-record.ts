/** Reads worker records that another process, and perhaps another version, has written. */
import {
  WORKER_KINDS,
  WORKER_REQUESTS,
  type StoredWorker,
  type WorkerRecord,
  type WorkerRequest,
} from "../domain/index.ts";

/** The columns of a record. */
export interface WorkerRow {
  readonly record: string | undefined;
  readonly heartbeat: unknown;
  readonly until: unknown;
  readonly request: string | null | undefined;
}

/** One record must not fill the lists of everybody. In characters, and in entries of a list. */
const MAX_TEXT = 1_000;
const MAX_ENTRIES = 1_000;
/** Later times are no dates. In milliseconds since the epoch. */
const MAX_TIME = 8_000_000_000_000_000;

/**
 * Undefined if the row is damaged: one such row must not break the lists. Fields that an older version does not write are
 * empty or 0. A kind or state of a newer version counts as a worker that takes nothing new.
 */
export function parseStoredWorker({ record: text, heartbeat, until, request }: WorkerRow): StoredWorker | undefined {
  const record = parseWorkerRecord(text);
  if (record === undefined || !isTime(heartbeat) || !isTime(until)) return undefined;
  const asked = toWorkerRequest(request);
  return { ...record, heartbeat, until, ...(asked !== undefined && { request: asked }) };
}

function parseWorkerRecord(text: string | undefined): WorkerRecord | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const { kind, state } = value;
  const texts = [value["id"], kind, value["host"], value["scope"], value["owner"], value["version"], state];
  const startedAt = value["startedAt"];
  if (!texts.every(isShortText) || !isShortText(startedAt) || Number.isNaN(Date.parse(startedAt))) return undefined;
  const [id, , host, scope, owner, version] = texts as [string, string, string, string, string, string];
  return {
    id,
    kind: WORKER_KINDS.find((known) => known === kind) ?? "worker",
    host,
    scope,
    owner,
    pid: toCount(value["pid"]),
    version,
    startedAt,
    labels: toTexts(value["labels"]),
    agents: toTexts(value["agents"]),
    unreadyAgents: toTexts(value["unreadyAgents"]),
    onlyAgents: value["onlyAgents"] === true,
    mirrors: value["mirrors"] === true,
    maxRunning: toCount(value["maxRunning"]),
    sessions: toCount(value["sessions"]),
    state: STATES.find((known) => known === state) ?? "draining",
  };
}

const STATES = ["ready", "draining", "stopped"] as const;

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isShortText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT;
}

function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.slice(0, MAX_ENTRIES).filter(isShortText) : [];
}

function toCount(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_TIME;
}

/** Undefined for no request, and for one of a newer version. */
export function toWorkerRequest(text: string | null | undefined): WorkerRequest | undefined {
  return WORKER_REQUESTS.find((request) => request === text);
}
