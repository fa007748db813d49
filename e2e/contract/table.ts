/** Formats the results of the real programs as the table of docs/agents.md. */
import { BEHAVIORS, type Behavior, type CaseResult } from "../../src/backends/contract/index.ts";

export class Table {
  readonly #columns = new Map<string, Map<Behavior, CaseResult>>();

  add(subject: string, behavior: Behavior, verdict: CaseResult): void {
    const column = this.#columns.get(subject) ?? new Map<Behavior, CaseResult>();
    this.#columns.set(subject, column.set(behavior, verdict));
  }

  toString(): string {
    const names = [...this.#columns.keys()];
    const notes: string[] = [];
    const rows = BEHAVIORS.map((behavior) => [
      behavior,
      ...names.map((name) => mark(this.#columns.get(name)?.get(behavior), notes)),
    ]);
    const lines = [["", ...names], ["---", ...names.map(() => "---")], ...rows].map((row) => `| ${row.join(" | ")} |`);
    return [...lines, "", ...notes.map((note, index) => `${index + 1}. ${note}`)].join("\n");
  }
}

function mark(verdict: CaseResult | undefined, notes: string[]): string {
  if (verdict === undefined) return "";
  if (verdict === "passed") return "✓";
  if (verdict === "failed") return "✗";
  const known = notes.indexOf(verdict.skipped);
  return `– (${known === -1 ? notes.push(verdict.skipped) : known + 1})`;
}
