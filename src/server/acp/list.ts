/** Lists the sessions of the log for an ACP client. */
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { realFolder } from "../../config/root.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";

const PAGE_SIZE = 50;

/** Newest first. The cursor is the last id of the previous page. Throws -32602 for an invalid cursor. */
export async function listAcpSessions(
  store: SessionStore,
  { cwd, cursor }: acp.ListSessionsRequest,
): Promise<acp.ListSessionsResponse> {
  if (typeof cursor === "string" && !/^ses_\w+$/.test(cursor))
    throw invalidParams(`invalid cursor ${cursor}: pass nextCursor of the previous page`);
  const folder = typeof cwd === "string" ? await realFolder(cwd).catch(() => cwd) : undefined; // the folder may be deleted
  const found = await store.list({ cwd: folder, before: cursor ?? undefined, limit: PAGE_SIZE + 1 });
  const page = found.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  const more = found.length > PAGE_SIZE && last !== undefined;
  return { sessions: page.map(toSessionInfo), ...(more && { nextCursor: last.id }) };
}

function toSessionInfo({ id, cwd, title, updatedAt, agent, status }: SessionSummary): acp.SessionInfo {
  return {
    sessionId: id,
    cwd,
    updatedAt,
    ...(title !== undefined && { title }),
    _meta: { rookery: { agent, status } },
  };
}
