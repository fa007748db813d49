/** Idempotency keys. Old ones are deleted when one is added; rows that another transaction deletes are skipped. */
import { KEPT_REQUEST_MS, MAX_KEPT_REQUESTS } from "../../../domain/index.ts";

export const REQUEST_FUNCTIONS = `
create function @delete_old_requests(p_now double precision) returns void language sql as $$
  delete from @request where no in (
    select no from @request
    where at < p_now - ${KEPT_REQUEST_MS} or no <= (select max(no) from @request) - ${MAX_KEPT_REQUESTS}
    for update skip locked
  );
$$;

create function @keep_requests(p_requests json) returns void language plpgsql as $$
begin
  insert into @request (key, digest, at, log, id, seq)
    select key, digest, at, log, id, seq from json_to_recordset(p_requests)
      q(key text, digest text, at double precision, log text, id text, seq bigint)
    on conflict (key) do nothing;
  perform @delete_old_requests((select max(at) from json_to_recordset(p_requests) q(at double precision)));
end $$;

create function @keep_response(p_key text, p_digest text, p_at double precision, p_response text)
returns void language plpgsql as $$
begin
  insert into @request as r (key, digest, at, response) values (p_key, p_digest, p_at, p_response)
    on conflict (key) do update set response = excluded.response where r.digest = excluded.digest;
  perform @delete_old_requests(p_at);
end $$;
`;
