/** Appends at the current head: reads the state, decides, appends, and decides again if another writer was faster. */
import { isRookeryError, type Appended, type SessionSummary, type TaskState } from "../../domain/index.ts";
import type { LogKind, PreparedAppend } from "../admission.ts";
import type { AppendQueue } from "./append-queue.ts";
import type { PostgresConnection } from "./connection.ts";
import { repeatWhileStale } from "./leases.ts";
import { toMissingLog } from "./log-pages.ts";
import { parseLogState } from "./stored-json.ts";
import { toStoredText } from "./stored-text.ts";

export interface HeadAppend<State> {
  readonly kind: LogKind;
  readonly logId: string;
  readonly id: string;
  /** Undefined if there is nothing to append. */
  readonly prepare: (state: State) => PreparedAppend | undefined;
}

const STATE_SQL: Record<LogKind, string> = {
  session: `
    select s.head, s.summary, (select a.head from @append a where a.log = s.no and a.id = $2)
    from @session s where s.id = $1`,
  task: `
    select t.head, t.state, (select a.head from @append a where a.log = -t.no and a.id = $2)
    from @task t where t.id = $1`,
};

/** Does not call `prepare` if the append id was already used. Rejects with `session_not_found` or `task_not_found`. */
export async function appendAtCurrentHead<State extends SessionSummary | TaskState>(
  { connection, queue }: { readonly connection: PostgresConnection; readonly queue: AppendQueue },
  { kind, logId, id, prepare }: HeadAppend<State>,
): Promise<Appended> {
  return repeatWhileStale(connection.where, async () => {
    const [row] = await connection.query(STATE_SQL[kind], [toStoredText(logId), toStoredText(id)]);
    if (row === undefined) throw toMissingLog(kind, logId);
    const [head, text, repeatedHead] = row as [number, string, number | null];
    if (repeatedHead !== null) return { done: { head: repeatedHead, repeated: true } };
    const prepared = prepare(parseLogState(kind, text, logId) as State);
    if (prepared === undefined) return { done: { head, repeated: false } };
    try {
      return { done: await queue.add(prepared) };
    } catch (error) {
      if (isRookeryError(error, "append_conflict")) return undefined;
      throw error;
    }
  });
}
