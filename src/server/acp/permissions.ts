/** Changes what a session may do while it is open, here or elsewhere: the log says it, and whoever drives it finds it. */
import { RookeryError } from "../../domain/errors.ts";
import type { PermissionPolicy } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { appendWithoutLease } from "../../session/index.ts";
import { systemClock } from "../../stdx/index.ts";

/** Rejects with `session_not_found` or `session_closed`. */
export function changePermissions(
  store: SessionStore,
  sessionId: string,
  permissions: PermissionPolicy,
): Promise<void> {
  return appendWithoutLease(store, sessionId, systemClock, ({ status, backend, model, cwd }) => {
    if (status === "closed") throw new RookeryError("session_closed", `session ${sessionId} was closed`);
    const body = { type: "session.opened" as const, reopened: true, backend, model, cwd, permissions };
    return { body, turnId: undefined };
  });
}
