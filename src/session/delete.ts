/** Deletes a session permanently, unless a process drives it. */
import type { OpenOptions } from "./open.ts";
import { sessionNotFound } from "./answer.ts";
import { releaseSessionLease, takeLease } from "./lease.ts";

/** Rejects with `session_not_found`, or with `session_in_use` while a live process drives the session. */
export async function deleteStoredSession(
  { store, clock, owner, leaseTiming: timing }: Pick<OpenOptions, "store" | "clock" | "owner" | "leaseTiming">,
  sessionId: string,
): Promise<void> {
  if ((await store.summary(sessionId)) === undefined) throw sessionNotFound(sessionId);
  const lease = await takeLease({ store, sessionId, owner, clock, timing });
  try {
    await store.delete(lease);
  } catch (error) {
    await releaseSessionLease(store, lease).catch(() => undefined); // the first error is more useful
    throw error;
  }
}
