/**
 * Reads what sessions reported about their usage. Keeps the reports, so that the next request reads only new events.
 */
import type { EventOf } from "../domain/events.ts";
import { MAX_PAGE, type SessionStore } from "../domain/store.ts";
import type { SessionSummary } from "../domain/summary.ts";
import { readSessionPages } from "./pages.ts";

type ReadableStore = Pick<SessionStore, "read">;

/** A report with the model of its session if it names none. */
export type UsageReport = EventOf<"usage.reported">;

export interface SessionReports {
  readonly head: number;
  /** The model that the session was opened with. */
  readonly model: string | undefined;
  /** Without what the session reports for a child session, because the child's log has it. */
  readonly reports: readonly UsageReport[];
}

const NO_REPORTS: SessionReports = { head: 0, model: undefined, reports: [] };

/** Reads the log after `known`. */
export async function readUsageReports(
  store: ReadableStore,
  sessionId: string,
  known: SessionReports = NO_REPORTS,
): Promise<SessionReports> {
  const reports = [...known.reports];
  let { head, model } = known;
  for await (const page of readSessionPages(store, sessionId, { after: head, limit: MAX_PAGE })) {
    for (const event of page) {
      if (event.type === "session.opened") model = event.model;
      if (event.type === "usage.reported" && event.childSessionId === undefined) {
        reports.push({ ...event, model: event.model ?? model });
      }
    }
    head = page.at(-1)?.seq ?? head;
  }
  return { head, model, reports };
}

/**
 * Maximum number of reports of all kept sessions. A report takes about 300 bytes. Beyond it, the least recently used
 * sessions are read again.
 */
const MAX_KEPT_REPORTS = 50_000;

interface KeptReports extends SessionReports {
  /** A deleted session may be created again under the same id. */
  readonly createdAt: string;
}

export class UsageReportCache {
  readonly #store: ReadableStore;
  readonly #maxReports: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, KeptReports>();
  #count = 0;

  constructor(store: ReadableStore, maxReports = MAX_KEPT_REPORTS) {
    this.#store = store;
    this.#maxReports = maxReports;
  }

  /** The reports up to the head of the summary or later. Rejects with `session_not_found`. */
  async read({ id, head, createdAt }: SessionSummary): Promise<readonly UsageReport[]> {
    const kept = this.#kept.get(id);
    const known = kept?.createdAt === createdAt ? kept : undefined;
    const found = known !== undefined && known.head >= head ? known : await readUsageReports(this.#store, id, known);
    this.#keep(id, { ...found, createdAt });
    return found.reports;
  }

  /** A session without reports counts too, so that their number is limited. */
  #keep(id: string, reports: KeptReports): void {
    this.#drop(id);
    this.#kept.set(id, reports);
    this.#count += 1 + reports.reports.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#count <= this.#maxReports) return;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#count -= 1 + kept.reports.length;
  }
}
