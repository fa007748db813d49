/** Changes the permission policy of a session through its log, which also reaches another driving process. */
import { RookeryError } from "../../domain/errors.ts";
import type { PermissionPolicy } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { appendWithoutLease } from "../../session/index.ts";
import { systemClock } from "../../stdx/index.ts";

/** Rejects with `session_not_found` or `session_closed`. */
export async function changePermissions(
  store: SessionStore,
  sessionId: string,
  permissions: PermissionPolicy,
): Promise<void> {
  await appendWithoutLease(store, sessionId, systemClock, ({ status, backend, model, cwd }) => {
    if (status === "closed")
      throw new RookeryError("session_closed", `session ${sessionId} is closed: create a new one`);
    const body = { type: "session.opened" as const, reopened: true, backend, model, cwd, permissions };
    return { body, turnId: undefined };
  });
}
