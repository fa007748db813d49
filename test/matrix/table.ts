/** Formats the matrix as a table: where the process was killed, what was stored, and the result. */
import type { StoryResult, StoredState } from "./cell.ts";
import { finalState, findUnknownCalls } from "./checks.ts";

export interface Row {
  /** The intended kill boundaries. */
  readonly at: readonly (string | number)[];
  readonly played: StoryResult;
  readonly faults: readonly string[];
}

export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map(formatRow);
  const all = [HEAD, ...cells];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, formatSummary(rows)].join("\n");
}

const HEAD = ["killed at", "last in the log", "begun", "replayed", "rerun", "unknown", "requests", "runs", "verdict"];

function formatRow({ at, played, faults }: Row): string[] {
  const { lives, remains, requests } = played;
  const killed = lives.flatMap(({ killedAt }) => killedAt ?? []);
  const settled = (how: string) => String(lives.at(-1)?.settled[how] ?? 0);
  const first = remains[0];
  return [
    killed.join(", then ") || `${at.join(", ")} (not reached)`,
    first?.events.at(-1)?.type ?? "nothing",
    formatUnfinished(first),
    settled("replayed"),
    settled("rerun"),
    findUnknownCalls(finalState(played).events).join(" ") || "-",
    String(requests.length),
    String(finalState(played).runs.length),
    faults.length === 0 ? "ok" : `FAILED: ${faults.join("; ")}`,
  ];
}

/** Lists the effects that the journal has as started and not finished. */
function formatUnfinished(remains: StoredState | undefined): string {
  const open = remains?.journal.filter(({ finished }) => !finished) ?? [];
  return open.map(({ key }) => `${key.kind} ${key.id}`).join(", ") || "-";
}

function formatSummary(rows: readonly Row[]): string {
  const isMissed = ({ played }: Row) => played.lives.every(({ killedAt }) => killedAt === undefined);
  const count = (which: (row: Row) => boolean) => rows.filter(which).length;
  const unknown = count(({ played }) => findUnknownCalls(finalState(played).events).length > 0);
  const again = count(({ played }) => (played.lives.at(-1)?.settled["rerun"] ?? 0) > 0);
  return [
    `${rows.length} stories`,
    `${count(isMissed)} not reached`,
    `${unknown} with an unknown outcome`,
    `${again} with a repeated effect`,
    `${count(({ faults }) => faults.length > 0)} failed`,
  ].join(", ");
}
