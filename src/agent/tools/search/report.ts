/** What a search found, as it is told. */
import { cut } from "../text.ts";
import type { Matches } from "./matching.ts";

export interface ReportOptions {
  /** Lines around each match. */
  readonly context: number;
  readonly output: "lines" | "files" | "count";
}

const MOST_MATCHES = 500;
const MOST_FILES = 1_000;
const MAX_LINE_LENGTH = 500;
const MAX_LENGTH = 28_000;

export class Report {
  readonly #options: ReportOptions;
  readonly #lines: string[] = [];
  #length = 0;
  #matches = 0;
  #files = 0;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    const most = this.#options.output === "lines" ? this.room <= 0 : this.#files >= MOST_FILES;
    return most || this.#length >= MAX_LENGTH;
  }

  /** How many matches of one file are of use. */
  get room(): number {
    return this.#options.output === "lines" ? MOST_MATCHES - this.#matches : 1;
  }

  add(path: string, text: string, { lines, count }: Matches): void {
    if (this.isFull) return;
    this.#files += 1;
    switch (this.#options.output) {
      case "files":
        return this.#say(path);
      case "count":
        return this.#say(`${path}: ${count}`);
      case "lines":
        return this.#addLines(path, text, lines.slice(0, this.room));
    }
  }

  text(nothing: string): string {
    if (this.#lines.length === 0) return nothing;
    const full = this.isFull ? "\n… there may be more: search less, or more precisely" : "";
    return this.#lines.join("\n") + full;
  }

  /** A line that matches has a colon behind its number, one around it a dash. */
  #addLines(path: string, text: string, matching: readonly number[]): void {
    const { context } = this.#options;
    const all = text.split("\n");
    const matches = new Set(matching);
    let last = -1;
    for (const at of matching) {
      const from = Math.max(last + 1, at - context);
      if (context > 0 && last >= 0 && from > last + 1) this.#say("--");
      for (let line = from; line <= Math.min(at + context, all.length - 1); line += 1) {
        if (this.isFull) return;
        const sign = matches.has(line) ? ":" : "-";
        if (matches.has(line)) this.#matches += 1;
        this.#say(`${path}${sign}${line + 1}${sign}${cut((all[line] ?? "").replace(/\r$/, ""), MAX_LINE_LENGTH)}`);
        last = line;
      }
    }
  }

  #say(line: string): void {
    this.#lines.push(line);
    this.#length += line.length + 1;
  }
}
