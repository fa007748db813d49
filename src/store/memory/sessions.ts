/** Lists sessions with the filters of `ListQuery`. */
import { shortId, type ListQuery, type SessionSummary } from "../../domain/index.ts";
import { clampLimit } from "../page.ts";

interface ListedSession {
  readonly summary: SessionSummary;
  readonly task: { readonly id: string } | undefined;
}

/** Newest first. */
export function filterSessions(sessions: Iterable<ListedSession>, query: ListQuery): SessionSummary[] {
  const { agent, cwd, within, startedBy, idPrefix, parent, task, status, before, limit } = query;
  return Array.from(sessions)
    .filter((session) => task === undefined || session.task?.id === task)
    .map(({ summary }) => summary)
    .filter((summary) => agent === undefined || summary.agent === agent)
    .filter((summary) => cwd === undefined || summary.cwd === cwd)
    .filter((summary) => within === undefined || within.some((folder) => isWithin(folder, summary.cwd)))
    .filter((summary) => startedBy === undefined || (summary.task === undefined && summary.depth === undefined))
    .filter(({ id }) => idPrefix === undefined || hasIdPrefix(id, idPrefix))
    .filter((summary) => parent === undefined || summary.parent === parent)
    .filter((summary) => (status === undefined ? summary.status !== "copying" : summary.status === status))
    .filter((summary) => before === undefined || summary.id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, clampLimit(limit));
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function hasIdPrefix(id: string, prefix: string): boolean {
  return id.startsWith(`ses_${prefix.replace(/^ses_/, "")}`) || shortId(id).startsWith(prefix);
}
