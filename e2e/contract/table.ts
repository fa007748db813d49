/** Formats the results of the real programs as the table of docs/agents.md. */
import { BEHAVIOURS, type Behaviour, type Verdict } from "../../src/backends/contract/index.ts";

export class Table {
  readonly #columns = new Map<string, Map<Behaviour, Verdict>>();

  add(subject: string, behaviour: Behaviour, verdict: Verdict): void {
    const column = this.#columns.get(subject) ?? new Map<Behaviour, Verdict>();
    this.#columns.set(subject, column.set(behaviour, verdict));
  }

  toString(): string {
    const names = [...this.#columns.keys()];
    const notes: string[] = [];
    const rows = BEHAVIOURS.map((behaviour) => [
      behaviour,
      ...names.map((name) => mark(this.#columns.get(name)?.get(behaviour), notes)),
    ]);
    const lines = [["", ...names], ["---", ...names.map(() => "---")], ...rows].map((row) => `| ${row.join(" | ")} |`);
    return [...lines, "", ...notes.map((note, index) => `${index + 1}. ${note}`)].join("\n");
  }
}

function mark(verdict: Verdict | undefined, notes: string[]): string {
  if (verdict === undefined) return "";
  if (verdict === "passed") return "✓";
  if (verdict === "failed") return "✗";
  const known = notes.indexOf(verdict.skipped);
  return `– (${known === -1 ? notes.push(verdict.skipped) : known + 1})`;
}
