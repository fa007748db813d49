/** The matrix as a table: where it was killed, what was there, and what came. */
import type { Played, Remains } from "./test-cell.ts";
import { endOf, unknownIn } from "./test-checks.ts";

export interface Row {
  /** Where it was to be killed. */
  readonly at: readonly (string | number)[];
  readonly played: Played;
  readonly faults: readonly string[];
}

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(cellsOf);
  const all = [HEAD, ...cells];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, summaryOf(rows)].join("\n");
}

const HEAD = ["killed at", "last in the log", "begun", "replayed", "rerun", "unknown", "requests", "runs", "verdict"];

function cellsOf({ at, played, faults }: Row): string[] {
  const { lives, remains, requests } = played;
  const killed = lives.flatMap(({ killedAt }) => killedAt ?? []);
  const settled = (how: string) => String(lives.at(-1)?.settled[how] ?? 0);
  const first = remains[0];
  return [
    killed.join(", then ") || `${at.join(", ")} (not reached)`,
    first?.events.at(-1)?.type ?? "nothing",
    begunIn(first),
    settled("replayed"),
    settled("rerun"),
    unknownIn(endOf(played).events).join(" ") || "-",
    String(requests.length),
    String(endOf(played).runs.length),
    faults.length === 0 ? "ok" : `FAILED: ${faults.join("; ")}`,
  ];
}

/** What the journal had a start of, and no end. */
function begunIn(remains: Remains | undefined): string {
  const open = remains?.journal.filter(({ finished }) => !finished) ?? [];
  return open.map(({ key }) => `${key.kind} ${key.id}`).join(", ") || "-";
}

function summaryOf(rows: readonly Row[]): string {
  const isMissed = ({ played }: Row) => played.lives.every(({ killedAt }) => killedAt === undefined);
  const count = (which: (row: Row) => boolean) => rows.filter(which).length;
  const unknown = count(({ played }) => unknownIn(endOf(played).events).length > 0);
  const again = count(({ played }) => (played.lives.at(-1)?.settled["rerun"] ?? 0) > 0);
  return [
    `${rows.length} stories`,
    `${count(isMissed)} not reached`,
    `${unknown} with an outcome that is unknown`,
    `${again} in which something was done again`,
    `${count(({ faults }) => faults.length > 0)} failed`,
  ].join(", ");
}
