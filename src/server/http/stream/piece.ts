/** Events as they go over the wire, encoded once: a piece is what one write sends. */

export interface Piece {
  /** Exclusive. */
  readonly after: number;
  /** Inclusive: where the next one begins. */
  readonly last: number;
  readonly bytes: Buffer;
  readonly count: number;
}

/** An event's place in its stream, and its JSON on one line. */
export interface Line {
  readonly id: number;
  readonly text: string;
}

/** A reader that stalls holds one of these; only an event that is larger by itself makes a larger one. */
export const PIECE_CHARACTERS = 128 * 1024;

/** As many pieces as a page needs, at least one. */
export function encode(after: number, page: readonly Line[]): Piece[] {
  const pieces: Piece[] = [];
  let start = after;
  let text = "";
  let count = 0;
  for (const { id, text: data } of page) {
    text += `id: ${id}\ndata: ${data}\n\n`;
    count += 1;
    if (text.length < PIECE_CHARACTERS) continue;
    pieces.push({ after: start, last: id, bytes: Buffer.from(text), count });
    start = id;
    text = "";
    count = 0;
  }
  const last = page.at(-1)?.id;
  if (count > 0 && last !== undefined) pieces.push({ after: start, last, bytes: Buffer.from(text), count });
  return pieces;
}
