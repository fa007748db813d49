/** Verifies a copy by reading it back: every row, and every log through the interface of stores. */
import { createHash } from "node:crypto";
import { RookeryError, type Store } from "../../domain/index.ts";
import type { LogKind } from "../admission.ts";
import type { CopyEndpoint, CopySource } from "./endpoint.ts";
import { COPIED_TABLES, MAX_COPIED_BYTES, MAX_COPIED_ROWS, RowDigest, type CopiedTable } from "./tables.ts";

export interface VerifiedCopy {
  readonly counts: Readonly<Record<CopiedTable, number>>;
  /** The last position of the feed. */
  readonly position: number;
  /** A SHA-256 digest of all events in the order of the feed, with their positions. */
  readonly digest: string;
}

export interface VerifiedEndpoints {
  readonly source: CopySource;
  readonly target: CopyEndpoint;
  /** The target, opened as a store. */
  readonly copy: Store;
  readonly onProgress: (table: CopiedTable, rows: number) => void;
}

/**
 * Rejects with `store_corrupt` if the copy differs from the source, including when the source has changed during the
 * copy.
 */
export async function verifyCopy({ source, target, copy, onProgress }: VerifiedEndpoints): Promise<VerifiedCopy> {
  const counts = {} as Record<CopiedTable, number>;
  for (const table of COPIED_TABLES) {
    const copied = await digestRows(target, table, (rows) => onProgress(table, rows));
    if (!copied.equals(await digestRows(source, table))) throw differs(`the table "${table}"`, target);
    counts[table] = copied.count;
  }
  const isSame = (what: string, one: unknown, other: unknown): void => {
    if (JSON.stringify(one) !== JSON.stringify(other)) throw differs(what, target);
  };
  const { store } = source;
  isSame("the number of tasks in a phase", await store.countTasks(), await copy.countTasks());
  for (const kind of ["task", "session"] as const) {
    for await (const page of source.readRows(kind)) {
      for (const [, id] of page) await compareLog(kind, id as string, { store, copy, isSame });
    }
  }
  for await (const page of source.readRows("request")) {
    for (const [key] of page) {
      const name = key as string;
      isSame(`the idempotency key ${name}`, await store.keptRequest(name), await copy.keptRequest(name));
    }
  }
  for await (const page of target.readRows("blob")) {
    for (const [hash] of page) isSame(`blob ${String(hash)}`, (await copy.getBlob(hash as string)) !== undefined, true);
  }
  return { counts, ...(await compareFeeds({ store, copy, isSame })) };
}

async function digestRows(
  endpoint: CopyEndpoint,
  table: CopiedTable,
  onProgress: (rows: number) => void = () => undefined,
): Promise<RowDigest> {
  const digest = new RowDigest();
  for await (const rows of endpoint.readRows(table)) {
    digest.add(rows);
    onProgress(digest.count);
  }
  return digest;
}

interface ComparedStores {
  readonly store: Store;
  readonly copy: Store;
  /** Throws if the values differ. */
  readonly isSame: (what: string, one: unknown, other: unknown) => void;
}

/** Compares a log and what belongs to it. */
async function compareLog(kind: LogKind, id: string, { store, copy, isSame }: ComparedStores): Promise<void> {
  const name = `${kind} ${id}`;
  const read = (from: Store) => (kind === "session" ? from.summary(id) : from.task(id));
  isSame(name, await read(store), await read(copy));
  isSame(`the lease of ${name}`, await store.currentLease(id), await copy.currentLease(id));
  const copied = readLog(copy, kind, id);
  const turns = new Set<string>();
  for await (const event of readLog(store, kind, id)) {
    const { done, value } = await copied.next();
    isSame(`event ${event.seq} of ${name}`, event, done === true ? undefined : value);
    if ("turnId" in event && event.turnId !== undefined) turns.add(event.turnId);
    if (event.type === "turn.ended" && event.turnId !== undefined) turns.delete(event.turnId);
  }
  isSame(`the end of ${name}`, (await copied.next()).done, true);
  for (const turn of turns) {
    isSame(`the journal of turn ${turn} of ${name}`, await store.journal(id, turn), await copy.journal(id, turn));
  }
}

async function* readLog(store: Store, kind: LogKind, id: string) {
  for (let after = 0; ;) {
    const query = { after, limit: MAX_COPIED_ROWS, maxBytes: MAX_COPIED_BYTES };
    const { events } = await (kind === "session"
      ? store.read({ sessionId: id, ...query })
      : store.readTask({ taskId: id, ...query }));
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

async function compareFeeds({ store, copy, isSame }: ComparedStores): Promise<Omit<VerifiedCopy, "counts">> {
  const hash = createHash("sha256");
  const copied = readFeed(copy);
  for await (const event of readFeed(store)) {
    const { done, value } = await copied.next();
    isSame(`position ${event.position} of the feed`, event, done === true ? undefined : value);
    hash.update(`${event.position} ${event.text}\n`);
  }
  isSame("the end of the feed", (await copied.next()).done, true);
  const { head } = await store.readFeed({ after: Number.MAX_SAFE_INTEGER - 1 });
  isSame("the last position of the feed", head, (await copy.readFeed({ after: Number.MAX_SAFE_INTEGER - 1 })).head);
  return { position: head, digest: hash.digest("hex") };
}

async function* readFeed(store: Store) {
  for (let after = 0; ;) {
    const { events } = await store.readFeed({ after, limit: MAX_COPIED_ROWS, maxBytes: MAX_COPIED_BYTES });
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

function differs(what: string, { where }: CopyEndpoint): RookeryError {
  const fix = "if a process has changed the source meanwhile, stop it; then copy again with --restart";
  return new RookeryError("store_corrupt", `${what} differs between the source and its copy in ${where}: ${fix}`);
}
