/**
 * Writes a group of appends in one statement. The caller has computed all rows from what it knows about the logs; the
 * function compares that with the tables under the locks of the logs, and raises RK001 if it is stale.
 *
 * 1. Rows are locked in the order of their numbers, sessions before tasks, so that two groups cannot deadlock.
 * 2. Leases are read by a later statement than the one that locks, because it has a newer snapshot. A log that does not
 *    exist yet cannot be locked; its lease is locked instead.
 * 3. The lock of the feed comes last, in a statement of its own: the next statement then sees what was committed while
 *    it waited.
 */
import { STALE_CODE } from "../errors.ts";
import { FEED_LOCK } from "./locks.ts";

/** The names and types of the parameters, in order. */
export const APPEND_PARAMETERS: readonly (readonly [name: string, type: string])[] = [
  ["p_sessions", "json"],
  ["p_tasks", "json"],
  ["p_event_logs", "bigint[]"],
  ["p_event_seqs", "bigint[]"],
  ["p_event_bodies", "text"],
  ["p_appends", "json"],
  ["p_forgotten", "json"],
  ["p_journal", "json"],
  ["p_requests", "json"],
  ["p_feed", "json"],
];

export const APPEND_SIGNATURE = APPEND_PARAMETERS.map(([name, type]) => `${name} ${type}`).join(", ");

/** Small tables without statistics would otherwise be read as a whole. */
export const INDEXES_ONLY = "set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off";

const LOG = "no bigint, id text, created boolean, expected bigint, fence bigint, head bigint";
const SESSION = `${LOG}, agent text, cwd text, parent text, status text, by_person boolean, task bigint, summary text, moved boolean, whose bigint`;
const TASK = `${LOG}, phase text, not_before double precision, waiting boolean, merging boolean, removed boolean, state text,
  repository text, agent text, provider text, lane text, priority double precision, limits text, needs json`;

/** Locks the logs, and raises the error if one of them is not as the caller knows it. */
function checkLogs(table: "session" | "task"): string {
  const rows = `json_to_recordset(p_${table}s)`;
  return `
  perform 1 from @${table} s where s.no in (select q.no from ${rows} q(no bigint, created boolean) where not q.created)
    order by s.no for update;
  perform 1 from @lease l where l.session_id in (
    select q.id from ${rows} q(id text, created boolean, fence bigint) where q.created and q.fence is not null
  ) order by l.session_id for share;
  select count(*) into fitting from ${rows} q(${LOG})
    where (q.created or exists (select 1 from @${table} s where s.no = q.no and s.head = q.expected))
      and (q.fence is null or q.fence = (select l.generation from @lease l where l.session_id = q.id));
  if fitting <> json_array_length(p_${table}s) then
    raise exception 'another writer was faster' using errcode = '${STALE_CODE}';
  end if;`;
}

export const APPEND_FUNCTION = `
create function @append_group(${APPEND_SIGNATURE}) returns void language plpgsql ${INDEXES_ONLY} as $$
declare
  fitting bigint;
  last bigint;
begin
  if p_sessions is not null then
    ${checkLogs("session")}
  end if;
  if p_tasks is not null then
    ${checkLogs("task")}
  end if;
  if p_sessions is not null then
    update @feed f set whose = q.whose from json_to_recordset(p_sessions) q(${SESSION}), @session s
      where q.moved and s.no = q.no and f.log = q.no and f.whose = coalesce(-s.task, s.no);
    update @session s set head = q.head, agent = q.agent, cwd = q.cwd, parent = q.parent, status = q.status,
        by_person = q.by_person, task = q.task, summary = q.summary
      from json_to_recordset(p_sessions) q(${SESSION}) where s.no = q.no and not q.created;
    insert into @session (no, id, head, agent, cwd, parent, status, by_person, task, summary)
      select no, id, head, agent, cwd, parent, status, by_person, task, summary
      from json_to_recordset(p_sessions) q(${SESSION}) where created order by id;
  end if;
  if p_tasks is not null then
    update @task t set head = q.head, phase = q.phase, not_before = q.not_before, waiting = q.waiting,
        merging = q.merging, removed = q.removed, state = q.state
      from json_to_recordset(p_tasks) q(${TASK}) where t.no = q.no and not q.created;
    insert into @task (no, id, head, phase, repository, agent, provider, lane, priority, limits, not_before, waiting,
        merging, removed, state)
      select no, id, head, phase, repository, agent, provider, lane, priority, limits, not_before, waiting, merging,
        removed, state
      from json_to_recordset(p_tasks) q(${TASK}) where created order by id;
    insert into @need (task, needed)
      select distinct q.no, n.needed from json_to_recordset(p_tasks) q(${TASK}), json_array_elements_text(q.needs) n(needed)
      where q.created;
  end if;
  insert into @event (log, seq, body)
    select * from unnest(p_event_logs, p_event_seqs, string_to_array(p_event_bodies, E'\\x1e'));
  insert into @append (log, id, head) select log, id, head from json_to_recordset(p_appends) q(log bigint, id text, head bigint);
  if p_forgotten is not null then
    delete from @journal j using json_to_recordset(p_forgotten) q(log bigint, turn text)
      where j.log = q.log and j.turn = q.turn;
  end if;
  if p_journal is not null then
    insert into @journal as j (log, turn, step, kind, id, finished, value)
      select log, turn, step, kind, id, finished, value from json_to_recordset(p_journal)
        q(log bigint, turn text, step integer, kind text, id text, finished boolean, value text)
      on conflict (log, turn, step, kind, md5(id)) do update set finished = true, value = excluded.value
        where excluded.finished;
  end if;
  if p_requests is not null then
    perform @keep_requests(p_requests);
  end if;
  if p_feed is not null then
    perform ${FEED_LOCK};
    select through into last from @feed order by through desc limit 1;
    insert into @feed (through, log, whose, head, events)
      select coalesce(last, 0) + upto, log, whose, head, events
      from json_to_recordset(p_feed) q(upto bigint, log bigint, whose bigint, head bigint, events bigint);
  end if;
end $$;
`;
