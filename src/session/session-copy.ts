/**
 * Creates a session whose events come from elsewhere: a fork or an adopted session. It is listed and can be opened only
 * when it is complete; what a dead process left is deleted before the next copy.
 */
import { newId, type EventDraft, type Lease } from "../domain/index.ts";
import { deleteStoredSession } from "./delete.ts";
import { keepLeaseRenewed } from "./lease-keeper.ts";
import { isOtherProcessError, takeLease } from "./lease.ts";
import type { OpenOptions } from "./open.ts";

export type CopyOptions = Pick<OpenOptions, "store" | "clock" | "owner" | "leaseTiming">;

/** The size of one commit. The database is locked for about 10 ms per commit. */
export const COPY_PAGE = { limit: 250, maxBytes: 512 * 1024 };

/** Appends events to the new session, in one commit. */
export type AppendToCopy = (events: readonly EventDraft[]) => Promise<void>;

/**
 * Calls `write`, which appends `session.opened` with `copying` first and with `reopened` last. Resolves with the ID of
 * the new session. If `write` rejects, deletes the session and rejects with the same error.
 */
export async function createSessionCopy(
  options: CopyOptions,
  write: (append: AppendToCopy) => Promise<void>,
): Promise<string> {
  const { store, clock, owner, leaseTiming: timing } = options;
  const leasing = { store, clock, owner, timing, sessionId: newId("ses", clock.now()) };
  const lease = await takeLease(leasing);
  const kept = keepLeaseRenewed(leasing, lease, () => undefined); // the store refuses appends under a lost lease
  try {
    await write(createAppender(options, lease));
  } catch (error) {
    await store.delete(lease).catch(() => undefined); // the next copy deletes what is left
    throw error;
  } finally {
    await kept[Symbol.asyncDispose]();
  }
  return lease.sessionId;
}

function createAppender({ store, clock }: CopyOptions, { sessionId, generation: fence }: Lease): AppendToCopy {
  let expectedHead = 0;
  return async (events) => {
    const id = newId("app", clock.now());
    expectedHead = (await store.append({ sessionId, id, expectedHead, fence, events })).head;
  };
}

/** Deletes copies that a dead process left incomplete. */
export async function deleteIncompleteCopies(options: CopyOptions): Promise<void> {
  for (const { id } of await options.store.list({ status: "copying" })) {
    await deleteStoredSession(options, id).catch((error: unknown) => {
      if (!isOtherProcessError(error)) throw error;
    });
  }
}
