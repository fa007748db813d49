/** The rows of the roster and the board: newest first, and only those that match the search. */
import { createMemo, type Accessor } from "solid-js";
import { useServer } from "../server.tsx";
import { isTopLevel, matchesSearch, sessionRow, taskRow, type RosterRow } from "./groups.ts";

export function useRows(search: Accessor<string>): Accessor<readonly RosterRow[]> {
  const { roster } = useServer();
  return createMemo((): readonly RosterRow[] => {
    const tasks = Object.values(roster.tasks).map(taskRow);
    const sessions = Object.values(roster.sessions).filter(isTopLevel).map(sessionRow);
    const rows = [...tasks, ...sessions].filter((row) => matchesSearch(row, search()));
    return rows.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  });
}
