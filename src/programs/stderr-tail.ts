/** Keeps the end of a process's stderr, bounded and safe to display. */
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";

const TAIL_BYTES = 4096;
/** More than is displayed, because escape sequences are removed afterwards. */
const MAX_KEPT_LENGTH = 4 * TAIL_BYTES;

export class StderrTail {
  readonly #decoder = new StringDecoder("utf8");
  #kept = "";
  #cut = false;

  /** Returns the text of the bytes. An incomplete character waits for the rest. */
  push(bytes: Buffer): string {
    const text = this.#decoder.write(bytes);
    const all = this.#kept + text;
    this.#cut ||= all.length > MAX_KEPT_LENGTH;
    this.#kept = all.slice(-MAX_KEPT_LENGTH);
    return text;
  }

  /** Returns at most 4 KiB. Starts with a complete line if there are several. */
  text(): string {
    const safe = sanitizeTerminalText(this.#kept);
    const bytes = Buffer.from(safe);
    if (!this.#cut && bytes.length <= TAIL_BYTES) return safe;
    const tail = bytes.subarray(findCharacterStart(bytes, Math.max(0, bytes.length - TAIL_BYTES))).toString("utf8");
    const newline = tail.indexOf("\n");
    return newline === -1 || newline === tail.length - 1 ? tail : tail.slice(newline + 1);
  }
}

/** Operating system commands such as setting the title; Node 20 leaves most of them in place. */
const CONTROL_STRINGS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Removes control characters, escape sequences and bidirectional overrides. Keeps line breaks and tabs. */
export function sanitizeTerminalText(text: string): string {
  return stripVTControlCharacters(text.replaceAll(CONTROL_STRINGS, ""))
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** Returns the first index from `from` at which a character starts. */
function findCharacterStart(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
