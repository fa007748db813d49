/** Decides on each append of a group, and computes the rows that the accepted ones write. Pure. */
import {
  applyTask,
  emptySummary,
  summarize,
  type Appended,
  type SessionEvent,
  type SessionSummary,
  type TaskEvent,
  type TaskState,
} from "../../domain/index.ts";
import { checkAppend, type PreparedAppend } from "../admission.ts";
import { logKey, type KnownLog } from "./log-facts.ts";

export type AppendResult = { readonly appended: Appended } | { readonly refused: unknown };

export interface AppendPlan {
  /** One result per append, in order. They hold if the write succeeds. */
  readonly results: readonly AppendResult[];
  /** Logs with accepted appends. */
  readonly grown: readonly GrownLog[];
  /** Logs whose remembered facts do not fit: read them and plan again before refusing anything. */
  readonly doubtful: readonly string[];
}

export interface GrownLog {
  readonly before: KnownLog;
  readonly no: number;
  readonly head: number;
  /** The fence of the appends, which is the same for all. */
  readonly fence: number | undefined;
  readonly accepted: readonly PreparedAppend[];
  readonly after: SessionSummary | TaskState;
}

/** The state of a log while the group is judged. */
interface LogInPlan {
  readonly known: KnownLog;
  head: number;
  generation: number | undefined;
  fence: number | undefined;
  readonly knownHeads: Map<string, number>;
  readonly accepted: PreparedAppend[];
}

export function planAppends(appends: readonly PreparedAppend[], logs: ReadonlyMap<string, KnownLog>): AppendPlan {
  const inPlan = new Map<string, LogInPlan>();
  const doubtful = new Set<string>();
  const results = appends.map((prepared) => {
    const key = logKey(prepared.kind, prepared.logId);
    const log = inPlan.get(key) ?? startPlan(logs.get(key) as KnownLog, prepared);
    inPlan.set(key, log);
    const result = judge(log, prepared);
    if ("refused" in result && log.known.fresh === undefined) doubtful.add(key);
    return result;
  });
  const grown = [...inPlan.values()].filter(({ accepted }) => accepted.length > 0).map(toGrownLog);
  return { results, grown, doubtful: [...doubtful] };
}

/** Of a remembered log, nobody but the database knows the lease: the write checks that the fence is the current one. */
function startPlan(known: KnownLog, { append }: PreparedAppend): LogInPlan {
  const generation = known.fresh === undefined ? append.fence : known.fresh.generation;
  const knownHeads = new Map(known.fresh?.knownHeads);
  return { known, head: known.head, generation, fence: undefined, knownHeads, accepted: [] };
}

function judge(log: LogInPlan, prepared: PreparedAppend): AppendResult {
  const { append, head } = prepared;
  const repeatedHead = log.knownHeads.get(append.id);
  if (repeatedHead !== undefined) return { appended: { head: repeatedHead, repeated: true } };
  try {
    checkAppend(prepared, log);
  } catch (refused) {
    return { refused };
  }
  log.head = head;
  log.fence ??= append.fence;
  log.knownHeads.set(append.id, head);
  log.accepted.push(prepared);
  return { appended: { head, repeated: false } };
}

function toGrownLog({ known, head, fence, accepted }: LogInPlan): GrownLog {
  const events = accepted.flatMap((prepared) => prepared.events);
  const after =
    known.kind === "session"
      ? summarize((known.state as SessionSummary | undefined) ?? emptySummary(known.id), events as SessionEvent[])
      : (events as TaskEvent[]).reduce(applyTask, known.state as TaskState);
  return { before: known, no: known.no as number, head, fence, accepted, after };
}
