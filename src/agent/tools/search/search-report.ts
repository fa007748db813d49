/** Formats the matches of a search. */
import { truncateLine } from "../truncate.ts";
import type { FileMatches } from "./regexp-worker.ts";

export interface SearchReportOptions {
  /** Number of lines to show around each match. */
  readonly context: number;
  readonly output: "lines" | "files" | "count";
}

const MAX_MATCHES = 500;
const MAX_FILES = 1_000;
const MAX_LINE_LENGTH = 500;
const MAX_LENGTH = 28_000;

export class SearchReport {
  readonly #options: SearchReportOptions;
  readonly #lines: string[] = [];
  #length = 0;
  #matches = 0;
  #files = 0;

  constructor(options: SearchReportOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    const isAtLimit = this.#options.output === "lines" ? this.remainingMatches <= 0 : this.#files >= MAX_FILES;
    return isAtLimit || this.#length >= MAX_LENGTH;
  }

  /** How many more matches of one file can be reported. */
  get remainingMatches(): number {
    return this.#options.output === "lines" ? MAX_MATCHES - this.#matches : 1;
  }

  add(path: string, text: string, { lines, count }: FileMatches): void {
    if (this.isFull) return;
    this.#files += 1;
    switch (this.#options.output) {
      case "files":
        return this.#addLine(path);
      case "count":
        return this.#addLine(`${path}: ${count}`);
      case "lines":
        return this.#addLines(path, text, lines.slice(0, this.remainingMatches));
    }
  }

  text(emptyText: string): string {
    if (this.#lines.length === 0) return emptyText;
    const full = this.isFull ? "\n… there may be more matches: search fewer files or use a more precise pattern" : "";
    return this.#lines.join("\n") + full;
  }

  /** A matching line has a colon after its number, a context line a dash. */
  #addLines(path: string, text: string, matching: readonly number[]): void {
    const { context } = this.#options;
    const all = text.split("\n");
    const matches = new Set(matching);
    let last = -1;
    for (const at of matching) {
      const from = Math.max(last + 1, at - context);
      if (context > 0 && last >= 0 && from > last + 1) this.#addLine("--");
      for (let line = from; line <= Math.min(at + context, all.length - 1); line += 1) {
        if (this.isFull) return;
        const sign = matches.has(line) ? ":" : "-";
        if (matches.has(line)) this.#matches += 1;
        this.#addLine(
          `${path}${sign}${line + 1}${sign}${truncateLine((all[line] ?? "").replace(/\r$/, ""), MAX_LINE_LENGTH)}`,
        );
        last = line;
      }
    }
  }

  #addLine(line: string): void {
    this.#lines.push(line);
    this.#length += line.length + 1;
  }
}
