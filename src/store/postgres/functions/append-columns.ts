/**
 * Writes a group of appends in one statement, like `append_group`, with a parameter for each column of the rows that
 * almost every append writes: PostgreSQL reads arrays about five times as fast as JSON. A session that only grows, which
 * means that no column but its head and its summary changes, is in arrays. Everything else is JSON for `append_group`.
 *
 * The rules of `append_group` hold:
 *
 * 1. Rows are locked in the order of their numbers, sessions before tasks. The arrays of sessions are in that order, and
 *    the update follows it. If there are other sessions too, all of them are locked first.
 * 2. Leases are read by a later statement than the one that locks, because it has a newer snapshot.
 * 3. The lock of the feed comes last, in a statement of its own.
 */
import { STALE_CODE } from "../errors.ts";
import { INDEXES_ONLY } from "./append.ts";
import { FEED_LOCK } from "./locks.ts";

/** The names and types of the parameters, in order. Texts are JSON, separated by `BODY_SEPARATOR`. */
export const APPEND_COLUMNS_PARAMETERS: readonly (readonly [name: string, type: string])[] = [
  ["p_nos", "bigint[]"],
  ["p_expected", "bigint[]"],
  ["p_heads", "bigint[]"],
  ["p_summaries", "text"],
  ["p_fenced_ids", "text[]"],
  ["p_fences", "bigint[]"],
  ["p_event_logs", "bigint[]"],
  ["p_event_seqs", "bigint[]"],
  ["p_event_bodies", "text"],
  ["p_append_logs", "bigint[]"],
  ["p_append_ids", "text[]"],
  ["p_append_heads", "bigint[]"],
  ["p_feed_upto", "bigint[]"],
  ["p_feed_logs", "bigint[]"],
  ["p_feed_whose", "bigint[]"],
  ["p_feed_heads", "bigint[]"],
  ["p_feed_events", "bigint[]"],
  ["p_sessions", "json"],
  ["p_tasks", "json"],
  ["p_forgotten", "json"],
  ["p_journal", "json"],
  ["p_requests", "json"],
];

const SIGNATURE = APPEND_COLUMNS_PARAMETERS.map(([name, type]) => `${name} ${type}`).join(", ");

const RAISE_STALE = `raise exception 'another writer was faster' using errcode = '${STALE_CODE}'`;

export const APPEND_COLUMNS_FUNCTION = `
create function @append_group_columns(${SIGNATURE}) returns void language plpgsql ${INDEXES_ONLY} as $$
declare
  fitting bigint;
  last bigint;
begin
  if p_nos is not null then
    if p_sessions is not null then
      perform 1 from @session s where s.no in (
        select unnest(p_nos)
        union all select q.no from json_to_recordset(p_sessions) q(no bigint, created boolean) where not q.created
      ) order by s.no for update;
    end if;
    update @session s set head = q.head, summary = q.summary
      from unnest(p_nos, p_expected, p_heads, string_to_array(p_summaries, E'\\x1e')) q(no, expected, head, summary)
      where s.no = q.no and s.head = q.expected;
    get diagnostics fitting = row_count;
    if fitting <> cardinality(p_nos) then
      ${RAISE_STALE};
    end if;
    if p_fenced_ids is not null then
      select count(*) into fitting from unnest(p_fenced_ids, p_fences) q(id, fence), lateral (
        select 1 from @lease l where l.session_id = q.id and l.generation = q.fence limit 1
      ) current;
      if fitting <> cardinality(p_fenced_ids) then
        ${RAISE_STALE};
      end if;
    end if;
  end if;
  if p_sessions is not null or p_tasks is not null or p_forgotten is not null or p_journal is not null
      or p_requests is not null then
    perform @append_group(p_sessions, p_tasks, '{}', '{}', '', '[]', p_forgotten, p_journal, p_requests, null);
  end if;
  insert into @event (log, seq, body)
    select * from unnest(p_event_logs, p_event_seqs, string_to_array(p_event_bodies, E'\\x1e'));
  insert into @append (log, id, head) select * from unnest(p_append_logs, p_append_ids, p_append_heads);
  if p_feed_logs is not null then
    perform ${FEED_LOCK};
    select through into last from @feed order by through desc limit 1;
    insert into @feed (through, log, whose, head, events)
      select coalesce(last, 0) + upto, log, whose, head, events
      from unnest(p_feed_upto, p_feed_logs, p_feed_whose, p_feed_heads, p_feed_events) q(upto, log, whose, head, events);
  end if;
end $$;
`;
