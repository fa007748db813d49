/** Finds server settings that can lose events that were already shown. */
import type { PostgresConnection } from "./connection.ts";

export interface PostgresRisk {
  readonly detail: string;
  /** How to fix it. */
  readonly advice: string;
}

/** Replicas of a managed service are often invisible. A user without rights sees that there are standbys, not which. */
const STANDBYS_SQL = `
  select current_setting('synchronous_standby_names') = '', (select count(*) from pg_stat_replication)`;

export async function findPostgresRisks(connection: PostgresConnection): Promise<readonly PostgresRisk[]> {
  const [row] = await connection.query(STANDBYS_SQL);
  const [isAsynchronous, standbys] = (row ?? []) as [boolean, number];
  if (!isAsynchronous || standbys === 0) return [];
  const subject = standbys === 1 ? "1 standby follows" : `${standbys} standbys follow`;
  const detail = `${subject} asynchronously, so a failover can lose events that were shown`;
  return [{ detail, advice: "set synchronous_standby_names on the primary" }];
}
