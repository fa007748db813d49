/**
 * Deletes sessions. The first function removes a session for every reader in one commit. The second removes its events
 * in batches, so that no statement takes long. Numbers of logs are never used again. If a process is killed in between,
 * the next deletion removes the rest.
 */
import { FEED_LOCK } from "./locks.ts";

/** Returns "missing", "lost" or "deleted". `record` runs under the lock of the feed. */
function deleteSessionFunction(record = ""): string {
  return `
create or replace function @delete_session(p_id text, p_generation bigint, p_requests json)
returns text language plpgsql as $$
declare
  deleted record;
  last bigint;
begin
  select no, coalesce(-task, no) as whose into deleted from @session where id = p_id for update;
  if not found then
    return 'missing';
  end if;
  perform 1 from @lease where session_id = p_id and generation = p_generation and not released;
  if not found then
    return 'lost';
  end if;
  select max(through) into last from @feed where whose = deleted.whose and log = deleted.no;
  delete from @feed where whose = deleted.whose and log = deleted.no and through < last;
  delete from @journal where log = deleted.no;
  delete from @session where no = deleted.no;
  delete from @lease where session_id = p_id;
  insert into @deleted_log values (deleted.no);
  if p_requests is not null then
    perform @keep_requests(p_requests);
  end if;
  perform ${FEED_LOCK};
  -- An empty entry keeps the last position, so that no position is assigned twice.
  update @feed set log = 0, whose = 0, head = 0, events = 0
    where through = last and through = (select max(through) from @feed);
  delete from @feed where through = last and log = deleted.no;
  delete from @feed where whose = 0 and through < (select max(through) from @feed);
  ${record}
  return 'deleted';
end $$;
`;
}

/** Deletes up to `p_rows` events and append ids of deleted sessions. Returns whether some are left. */
const PURGE_DELETED = `
create function @purge_deleted(p_rows integer) returns boolean language plpgsql as $$
declare
  purged bigint;
begin
  select log into purged from @deleted_log order by log limit 1 for update skip locked;
  if not found then
    return false;
  end if;
  delete from @event where log = purged and seq in (
    select seq from @event where log = purged order by seq limit p_rows
  );
  if found then
    return true;
  end if;
  delete from @append where log = purged and id in (select id from @append where log = purged limit p_rows);
  if found then
    return true;
  end if;
  delete from @deleted_log where log = purged;
  return true;
end $$;
`;

export const DELETE_FUNCTIONS = `${deleteSessionFunction()}${PURGE_DELETED}`;

/** A watcher that has missed more than this reads all its logs again. */
const MAX_DELETIONS = 1_000;

/** The last deleted sessions, so that followers in other processes end. A deletion leaves no event. */
export const RECORD_DELETIONS = `
create table @deletion (
  no bigint primary key,
  session_id text collate "C" not null
);
${deleteSessionFunction(`insert into @deletion select coalesce(max(no), 0) + 1, p_id from @deletion;
  delete from @deletion where no <= (select max(no) from @deletion) - ${MAX_DELETIONS};`)}`;
