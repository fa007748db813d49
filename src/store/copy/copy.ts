/**
 * Copies a whole store into an empty one, between files and databases in each direction.
 *
 * 1. The source is only read. It is refused while a worker uses it or a process drives a session or task of it.
 * 2. The target is marked as unfinished before the first row and until the copy is verified. No program opens it then.
 * 3. Numbers of logs and positions of the feed stay the same, so cursors of followers stay valid.
 * 4. Generations of leases and ids of appends stay the same, so old writers stay refused and retries stay no-ops.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import {
  checkArgument,
  flagArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  RookeryError,
  textArgument,
  type ArgumentCheck,
} from "../../domain/index.ts";
import { openCopySource, openCopyTarget, type CopySource, type CopyTarget, type StoreLocation } from "./endpoint.ts";
import { COPIED_TABLES, type CopiedTable } from "./tables.ts";
import { verifyCopy } from "./verify.ts";

export interface CopyStoreOptions {
  /** Deletes an unfinished copy at the target first. Default: false, which refuses it. */
  readonly restart?: boolean | undefined;
  /** Called after each page of rows. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  readonly step: "copying" | "verifying";
  readonly table: CopiedTable;
  readonly rows: number;
  readonly total: number;
}

export interface CopyReport {
  /** The stores, without users and passwords. */
  readonly from: string;
  readonly to: string;
  readonly sessions: number;
  readonly tasks: number;
  readonly events: number;
  readonly blobs: number;
  /** Idempotency keys. */
  readonly requests: number;
  /** The last position of the feed, which is the same in both stores. */
  readonly position: number;
  /** A SHA-256 digest of all events in the order of the feed. */
  readonly digest: string;
}

const location: ArgumentCheck = (value) =>
  objectArgument({ path: textArgument })(value) === undefined
    ? undefined
    : objectArgument({ url: textArgument, schema: optionalArgument(textArgument) })(value);
const OPTIONS = objectArgument({
  restart: optionalArgument(flagArgument),
  onProgress: optionalArgument(functionArgument),
});

/**
 * Copies everything from one store to another and verifies the copy. The source stays unchanged. Rejects with
 * `input_invalid` if the target is the source or is not empty, with `session_in_use` if a worker uses the source or a
 * process drives a session or task of it, with `log_corrupt` if the source is damaged, or with a `store_*` error.
 */
export async function copyStore(
  from: StoreLocation,
  to: StoreLocation,
  options: CopyStoreOptions = {},
): Promise<CopyReport> {
  checkArgument(from, location, "the source");
  checkArgument(to, location, "the target");
  checkArgument(options, OPTIONS, "the options of the copy");
  refuseSameStore(from, to);
  const { restart = false, onProgress = () => undefined } = options;
  await using source = await openCopySource(from);
  await refuseDriven(source);
  await using target = await openCopyTarget(to);
  await target.begin(restart);
  if (await source.isUnfinished()) {
    await target.finish(); // two URLs name the same empty schema, which is now marked as the target
    throw sameStore(target.where);
  }
  const totals = await copyRows(source, target, onProgress);
  await using copy = await target.open();
  const { counts, position, digest } = await verifyCopy({
    source,
    target,
    copy,
    onProgress: (table, rows) => onProgress({ step: "verifying", table, rows, total: totals[table] }),
  });
  await target.finish();
  const { session: sessions, task: tasks, event: events, blob: blobs, request: requests } = counts;
  return { from: source.where, to: target.where, sessions, tasks, events, blobs, requests, position, digest };
}

async function copyRows(
  source: CopySource,
  target: CopyTarget,
  onProgress: (progress: CopyProgress) => void,
): Promise<Record<CopiedTable, number>> {
  const totals = {} as Record<CopiedTable, number>;
  for (const table of COPIED_TABLES) {
    totals[table] = await source.countRows(table);
    let rows = 0;
    for await (const page of source.readRows(table)) {
      await target.writeRows(table, page);
      rows += page.length;
      onProgress({ step: "copying", table, rows, total: totals[table] });
    }
  }
  return totals;
}

/** The cells of a lease: see `COPIED_COLUMNS`. */
type LeaseCells = readonly [id: string, owner: string, generation: number, until: number, released: boolean];

async function refuseDriven(source: CopySource): Promise<void> {
  for (const { id, host, until, state } of await source.store.workers()) {
    if (state === "stopped" || until <= Date.now()) continue;
    const fix = `stop it with \`rookery workers stop ${id}\`, or wait until its record expires`;
    throw new RookeryError("session_in_use", `worker ${id} of host ${host} uses ${source.where}: ${fix}`);
  }
  for await (const page of source.readRows("lease")) {
    for (const [id, , , until, released] of page as readonly unknown[] as readonly LeaseCells[]) {
      if (released || until <= Date.now()) continue;
      const seconds = Math.ceil((until - Date.now()) / 1_000);
      const fix = `stop it, or wait: if it has ended already, its lease expires in ${seconds} s`;
      throw new RookeryError("session_in_use", `a process drives ${id} in ${source.where}: ${fix}`);
    }
  }
}

function refuseSameStore(from: StoreLocation, to: StoreLocation): void {
  if ("path" in from && "path" in to && isSameFile(from.path, to.path)) throw sameStore(resolve(to.path));
}

function isSameFile(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true;
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

function sameStore(where: string): RookeryError {
  return new RookeryError("input_invalid", `the source and the target are the same store, ${where}: choose another`);
}
