/** Writes a lease if the current one is still the one that the caller decided on. Returns whether it was written. */

export const LEASE_FUNCTION = `
create function @write_lease(
  p_id text, p_known_generation bigint, p_known_until double precision, p_known_released boolean,
  p_owner text, p_generation bigint, p_until double precision, p_released boolean
) returns boolean language plpgsql as $$
begin
  if p_known_generation is null then
    -- An append without a lease may run at the same time, but not one with a fence: it would need this lease.
    insert into @lease values (p_id, p_owner, p_generation, p_until, p_released) on conflict do nothing;
    return found;
  end if;
  if p_generation <> p_known_generation then
    -- An append under the old lease is committed before this, or sees the new lease.
    perform 1 from @session where id = p_id for update;
    perform 1 from @task where id = p_id for update;
  end if;
  update @lease set owner = p_owner, generation = p_generation, until = p_until, released = p_released
    where session_id = p_id and generation = p_known_generation and until = p_known_until and released = p_known_released;
  return found;
end $$;
`;
