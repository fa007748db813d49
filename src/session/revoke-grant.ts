/** Revokes a permission that a person gave for the rest of a session, from any process. */
import type { SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { appendWithoutLease, sessionNotFound } from "./answer.ts";
import { loadState } from "./open.ts";
import { checkText } from "./parameters.ts";
import { sessionClosed } from "./queue-input.ts";
import { toRevocation } from "./revocation.ts";

export interface RevokeStoredGrantOptions {
  readonly sessionId: string;
  readonly tool: string;
  /** Revokes only the permission for commands that start with these words. Default: everything of the tool. */
  readonly prefix?: string | undefined;
  readonly clock: Clock;
}

/**
 * Changes nothing if the tool is not allowed for the session. The process that drives the session follows within a
 * second. Rejects with `session_not_found` or `session_closed`.
 */
export async function revokeStoredGrant(
  store: SessionStore,
  { sessionId, tool, prefix, clock }: RevokeStoredGrantOptions,
): Promise<void> {
  checkText(sessionId, "the session ID");
  checkText(tool, "the tool");
  if ((await store.summary(sessionId)) === undefined) throw sessionNotFound(sessionId);
  const body = toRevocation(await loadState(store, sessionId), tool, prefix);
  if (body === undefined) return;
  await appendWithoutLease(store, sessionId, clock, ({ status }) => {
    if (status === "closed") throw sessionClosed(sessionId);
    return { body, turnId: undefined };
  });
}
