/**
 * Claims a task that the caller has chosen: grants its lease and appends `task.started`. Returns false if the choice is
 * stale, because other tasks run now or the lease has changed. Claims wait for each other, so that two of them cannot
 * both take the last free place.
 */
import { APPEND_PARAMETERS, APPEND_SIGNATURE } from "./append.ts";
import { CLAIM_LOCK } from "./locks.ts";

/** SQL: whether the task `t` needs a task that is not done. */
export const IS_BLOCKED = `exists (
    select 1 from @need n left join @task d on d.id = n.needed where n.task = t.no and d.phase is distinct from 'done'
  )`;

export const CLAIM_FUNCTION = `
create function @claim_task(
  p_id text, p_busy text[], p_known_generation bigint, p_known_until double precision, p_known_released boolean,
  p_owner text, p_generation bigint, p_until double precision, ${APPEND_SIGNATURE}
) returns boolean language plpgsql as $$
begin
  perform ${CLAIM_LOCK};
  if p_busy is distinct from array(
    select id from @task where not removed and phase in ('preparing', 'running') order by no
  ) then
    return false;
  end if;
  if exists (select 1 from @task t where t.id = p_id and ${IS_BLOCKED}) then
    return false;
  end if;
  if not @write_lease(
    p_id, p_known_generation, p_known_until, p_known_released, p_owner, p_generation, p_until, false
  ) then
    return false;
  end if;
  perform @append_group(${APPEND_PARAMETERS.map(([name]) => name).join(", ")});
  return true;
end $$;
`;
