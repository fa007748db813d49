/** Encodes events for the wire. A piece is the unit that one write sends. */

export interface StreamPiece {
  /** The cursor before the first event. */
  readonly after: number;
  /** The cursor of the last event, where the next piece starts. */
  readonly last: number;
  readonly bytes: Buffer;
  readonly count: number;
}

/** An event: its cursor, and its JSON on one line. */
export interface EventLine {
  readonly id: number;
  readonly text: string;
}

/** Bounds the memory that a stalled reader holds. Only a single large event makes a larger piece. */
export const MAX_PIECE_CHARACTERS = 128 * 1024;

/** Splits a page into pieces. Empty for an empty page. */
export function encodePieces(after: number, page: readonly EventLine[]): StreamPiece[] {
  const pieces: StreamPiece[] = [];
  let start = after;
  let text = "";
  let count = 0;
  for (const { id, text: data } of page) {
    text += `id: ${id}\ndata: ${data}\n\n`;
    count += 1;
    if (text.length < MAX_PIECE_CHARACTERS) continue;
    pieces.push({ after: start, last: id, bytes: Buffer.from(text), count });
    start = id;
    text = "";
    count = 0;
  }
  const last = page.at(-1)?.id;
  if (count > 0 && last !== undefined) pieces.push({ after: start, last, bytes: Buffer.from(text), count });
  return pieces;
}
