/**
 * The payload of a notification: the logs that have grown, so that listeners do not have to read the feed to find them.
 */
import type { LogGrowth } from "../log-watches.ts";

/** PostgreSQL refuses a payload of 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500;
/** Beyond this, listeners read the feed instead. */
const MAX_PAYLOADS = 16;
/** A payload that makes listeners read the feed. */
const READ_FEED = "";

/** Names each log once, with its last head. */
export function toNotifications(logs: readonly LogGrowth[]): string[] {
  const last = new Map<string, LogGrowth>();
  for (const log of logs) last.set(`${log.kind} ${log.id}`, log);
  const payloads: string[] = [];
  let entries: string[] = [];
  let bytes = 0;
  for (const { kind, id, head } of last.values()) {
    const entry = JSON.stringify([kind === "task" ? 1 : 0, id, Number.isFinite(head) ? head : null]);
    const size = Buffer.byteLength(entry) + 1;
    if (size > MAX_PAYLOAD_BYTES) return [READ_FEED];
    if (bytes + size > MAX_PAYLOAD_BYTES) {
      payloads.push(`[${entries.join(",")}]`);
      [entries, bytes] = [[], 0];
    }
    entries.push(entry);
    bytes += size;
  }
  payloads.push(`[${entries.join(",")}]`);
  return payloads.length > MAX_PAYLOADS ? [READ_FEED] : payloads;
}

/**
 * The head of a deleted session is infinite. Undefined if the feed has to be read, also for a payload that no program of
 * ours sends: every user of the database can send one.
 */
export function parseNotification(payload: string): LogGrowth[] | undefined {
  try {
    const entries: unknown = JSON.parse(payload);
    if (!Array.isArray(entries) || !entries.every(isEntry)) return undefined;
    return entries.map(([isTask, id, head]) => ({
      kind: isTask === 1 ? "task" : "session",
      id,
      head: head ?? Infinity,
    }));
  } catch {
    return undefined;
  }
}

function isEntry(entry: unknown): entry is [isTask: number, id: string, head: number | null] {
  if (!Array.isArray(entry) || entry.length !== 3) return false;
  const [isTask, id, head] = entry as unknown[];
  return (isTask === 0 || isTask === 1) && typeof id === "string" && (head === null || Number.isSafeInteger(head));
}
