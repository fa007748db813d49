/** The last that a process said on stderr, bounded, and safe to show to a person. */
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";

const TAIL_BYTES = 4096;
/** More than is shown: escape sequences are taken out afterwards. */
const KEPT = 4 * TAIL_BYTES;

export class StderrTail {
  readonly #decoder = new StringDecoder("utf8");
  #kept = "";
  #cut = false;

  /** Gives back the text of these bytes; half a character waits for the rest of it. */
  push(bytes: Buffer): string {
    const text = this.#decoder.write(bytes);
    const all = this.#kept + text;
    this.#cut ||= all.length > KEPT;
    this.#kept = all.slice(-KEPT);
    return text;
  }

  /** At most 4 KiB. Begins with a whole line where it holds more than one. */
  text(): string {
    const safe = harmless(this.#kept);
    const bytes = Buffer.from(safe);
    if (!this.#cut && bytes.length <= TAIL_BYTES) return safe;
    const tail = bytes.subarray(characterAt(bytes, Math.max(0, bytes.length - TAIL_BYTES))).toString("utf8");
    const newline = tail.indexOf("\n");
    return newline === -1 || newline === tail.length - 1 ? tail : tail.slice(newline + 1);
  }
}

/** What a terminal is told beside the text, such as a title; Node 20 leaves most of it in place. */
const TOLD = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Without what moves a cursor, recolours a screen or turns the direction of text; line breaks and tabs stay. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text.replaceAll(TOLD, ""))
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** The first place from here on where a character begins. */
function characterAt(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
