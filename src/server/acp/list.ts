/** The sessions of the log, as a client lists them. */
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { realFolder } from "../../config/root.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";

const PAGE = 50;

/** Newest first. The cursor is the last id of the page before. */
export async function listSessions(
  store: SessionStore,
  { cwd, cursor }: acp.ListSessionsRequest,
): Promise<acp.ListSessionsResponse> {
  if (typeof cursor === "string" && !/^ses_\w+$/.test(cursor)) throw invalidParams(`there is no page ${cursor}`);
  const folder = typeof cwd === "string" ? await realFolder(cwd).catch(() => cwd) : undefined; // it may be gone
  const found = await store.list({ cwd: folder, before: cursor ?? undefined, limit: PAGE + 1 });
  const page = found.slice(0, PAGE);
  const last = page.at(-1);
  const more = found.length > PAGE && last !== undefined;
  return { sessions: page.map(infoOf), ...(more && { nextCursor: last.id }) };
}

function infoOf({ id, cwd, title, updatedAt, agent, status }: SessionSummary): acp.SessionInfo {
  return {
    sessionId: id,
    cwd,
    updatedAt,
    ...(title !== undefined && { title }),
    _meta: { rookery: { agent, status } },
  };
}
