/** Lists the sessions that programs keep for a working directory. */
import { ADOPTABLE_BACKENDS, type AdoptableBackend, type NativeSessionSummary } from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { loadNativeHistory } from "./native-history.ts";

export interface KeptSessionsQuery {
  readonly cwd: string;
  /** Default: all that keep sessions. */
  readonly backend?: AdoptableBackend | undefined;
  /** Returns the environment of the agent of a backend, which says where the program keeps its sessions. */
  readonly environmentFor: (backend: AdoptableBackend) => EnvironmentVariables;
}

/** Last written first. */
export async function listKeptSessions(query: KeptSessionsQuery): Promise<readonly NativeSessionSummary[]> {
  const { cwd, backend, environmentFor } = query;
  const lists = await Promise.all(
    (backend === undefined ? ADOPTABLE_BACKENDS : [backend]).map(async (each) =>
      (await loadNativeHistory(each)).list(environmentFor(each), cwd),
    ),
  );
  return lists.flat().sort((one, other) => other.updatedAt.localeCompare(one.updatedAt));
}
