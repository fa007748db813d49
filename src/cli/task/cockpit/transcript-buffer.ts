/** The lines of the open transcript, and the part of them that fits the screen. They never go to the scrollback. */
import { styledWidth, wrapStyled } from "../../tui/styled-text.ts";

export type ScrollStep = "up" | "down" | "pageUp" | "pageDown" | "start" | "end";

export interface TranscriptWindow {
  readonly lines: readonly string[];
  /** How many lines follow. 0: the end is shown, and new lines appear. */
  readonly below: number;
}

/** Earlier lines are dropped; `rookery task logs` has them. */
const MAX_LINES = 20_000;

export class TranscriptBuffer {
  #lines: string[] = [];
  #below = 0;
  /** The rows of the last window. */
  #room = 1;

  /** If the person has scrolled up, the same lines stay visible. */
  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
    if (this.#below > 0) this.#below += lines.length;
    if (this.#lines.length > MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES / 2);
  }

  clear(): void {
    this.#lines = [];
    this.#below = 0;
  }

  scroll(step: ScrollStep): void {
    const page = Math.max(1, this.#room - 1);
    const by = { up: 1, down: -1, pageUp: page, pageDown: -page, start: Infinity, end: -Infinity }[step];
    this.#below = Math.max(0, Math.min(this.#lines.length - this.#room, this.#below + by));
  }

  /** At most `room` rows. Lines that were wrapped for a wider terminal are wrapped again. */
  window(room: number, width: number): TranscriptWindow {
    this.#room = Math.max(1, room);
    this.#below = Math.max(0, Math.min(this.#lines.length - this.#room, this.#below));
    const rows: string[] = [];
    for (let at = this.#lines.length - this.#below - 1; at >= 0 && rows.length < room; at -= 1) {
      const line = this.#lines[at] ?? "";
      rows.unshift(...(styledWidth(line) > width ? wrapStyled(line, width) : [line]));
    }
    return { lines: room <= 0 ? [] : rows.slice(-room), below: this.#below };
  }
}
