/** The schema, as a list of migrations. `@name` stands for a name in the schema of the store. */
import { APPEND_FUNCTION } from "./functions/append.ts";
import { APPEND_COLUMNS_FUNCTION } from "./functions/append-columns.ts";
import { CLAIM_FUNCTION } from "./functions/claim.ts";
import { DELETE_FUNCTIONS, RECORD_DELETIONS } from "./functions/delete.ts";
import { LEASE_FUNCTION } from "./functions/lease.ts";
import { REQUEST_FUNCTIONS } from "./functions/request.ts";

export interface PostgresMigration {
  readonly sql: string;
  /** Whether programs of the previous version can work with the result. Only then does opening a store apply it. */
  readonly additive: boolean;
}

/**
 * Logs of tasks are in the same tables as those of sessions, under the negated number of the task. The feed has one row
 * per log and commit: the position of the last event, and the number of events. `whose` is the log of the task for
 * everything that belongs to a task, and the session's own log otherwise. Text that is compared or sorted has the
 * collation "C", so that the order is the same on every server.
 */
const TABLES = `
create sequence @log_number;
create table @session (
  no bigint primary key,
  id text collate "C" not null unique,
  head bigint not null,
  agent text collate "C" not null,
  cwd text collate "C" not null,
  parent text collate "C",
  status text collate "C" not null,
  by_person boolean not null,
  task bigint,
  summary text not null
) with (fillfactor = 70);
create index session_task on @session (task) where task is not null;
create index session_parent on @session (parent) where parent is not null;
create index session_short_id on @session (right(substr(id, 5), 8));
create table @event (
  log bigint not null,
  seq bigint not null,
  body text not null,
  primary key (log, seq)
);
create table @append (
  log bigint not null,
  id text collate "C" not null,
  head bigint not null,
  primary key (log, id)
);
create table @lease (
  session_id text collate "C" primary key,
  owner text collate "C" not null,
  generation bigint not null,
  until double precision not null,
  released boolean not null
) with (fillfactor = 70);
create table @journal (
  no bigint generated always as identity primary key,
  log bigint not null,
  turn text collate "C" not null,
  step integer not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  finished boolean not null,
  value text
);
create unique index journal_key on @journal (log, turn, step, kind, md5(id));
create table @blob (
  hash text collate "C" primary key,
  bytes bytea not null
);
alter table @blob alter column bytes set storage external;
create table @request (
  no bigint generated always as identity primary key,
  key text collate "C" not null unique,
  digest text collate "C" not null,
  at double precision not null,
  log text,
  id text collate "C",
  seq bigint,
  response text
);
create index request_at on @request (at);
create table @task (
  no bigint primary key,
  id text collate "C" not null unique,
  head bigint not null,
  phase text collate "C" not null,
  repository text collate "C" not null,
  agent text collate "C" not null,
  provider text collate "C" not null,
  lane text collate "C" not null,
  priority double precision not null,
  limits text not null,
  not_before double precision not null,
  waiting boolean not null,
  merging boolean not null,
  removed boolean not null,
  state text not null
) with (fillfactor = 70);
create index task_waiting on @task (lane, priority desc, no) where waiting;
create index task_phase on @task (phase) where not removed;
create index task_merging on @task (no) where merging;
create table @need (
  task bigint not null,
  needed text collate "C" not null,
  primary key (task, needed)
);
create table @feed (
  through bigint primary key,
  log bigint not null,
  whose bigint not null,
  head bigint not null,
  events bigint not null
);
create index feed_whose on @feed (whose, through);
create table @deleted_log (
  log bigint primary key
);
`;

/** Records of workers, and settings that all processes agree on. */
const WORKER_TABLES = `
create table @worker (
  id text collate "C" primary key,
  heartbeat double precision not null,
  until double precision not null,
  request text collate "C",
  record text not null
) with (fillfactor = 50);
create table @setting (
  name text collate "C" primary key,
  value text not null
);
`;

/** Migration n upgrades version n-1 to n. Never change a released migration: add a new one. */
export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = [
  {
    sql: [TABLES, REQUEST_FUNCTIONS, APPEND_FUNCTION, LEASE_FUNCTION, CLAIM_FUNCTION, DELETE_FUNCTIONS].join("\n"),
    additive: true,
  },
  { sql: WORKER_TABLES, additive: true },
  { sql: RECORD_DELETIONS, additive: true },
  { sql: APPEND_COLUMNS_FUNCTION, additive: true },
];
