/** Splits the input of a terminal into keys and bracketed pastes. */

export type TerminalInput =
  | { readonly type: "key"; readonly data: string }
  /** `excess`: how many characters were dropped because the paste was longer than the limit. */
  | { readonly type: "paste"; readonly text: string; readonly excess: number };

export interface TerminalInputOptions {
  readonly onInput: (input: TerminalInput) => void;
  /** The maximum length of a paste in characters. Default: 8 Mi. */
  readonly maxPaste?: number;
}

const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";
/** How long an incomplete sequence waits for its rest. After that, a lone ESC is the Escape key. */
const SEQUENCE_TIMEOUT_MS = 30;
const MAX_PASTE_LENGTH = 8 * 1024 * 1024;
/** A longer sequence is not a key. */
const MAX_SEQUENCE_LENGTH = 256;

/** CSI, SS3, OSC, the string sequences, Alt with a character, or one character. */
const KEY =
  /\u001b\u001b?\[[0-?]*[ -/]*[@-~]|\u001bO[^\u001b]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]*\u001b\\|\u001b[^[O\]PX^_\u001b]|[^\u001b]/uy;

export class TerminalInputParser implements Disposable {
  readonly #onInput: TerminalInputOptions["onInput"];
  readonly #maxPaste: number;
  #buffer = "";
  #paste: PasteBuffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ onInput, maxPaste = MAX_PASTE_LENGTH }: TerminalInputOptions) {
    this.#onInput = onInput;
    this.#maxPaste = maxPaste;
  }

  feed(chunk: string): void {
    clearTimeout(this.#timer);
    let rest: string | undefined = chunk;
    while (rest !== undefined && rest !== "") rest = this.#paste === undefined ? this.#keys(rest) : this.#pasted(rest);
    if (this.#buffer === "") return;
    this.#timer = setTimeout(() => this.#flush(), SEQUENCE_TIMEOUT_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  /** Returns the input after the start of a paste. */
  #keys(chunk: string): string | undefined {
    const text = this.#buffer + chunk;
    this.#buffer = "";
    const start = text.indexOf(PASTE_START);
    const end = start === -1 ? text.length : start;
    let at = 0;
    while (at < end) {
      KEY.lastIndex = at;
      const key = KEY.exec(text)?.[0];
      if (key === undefined) break;
      at += key.length;
      this.#onInput({ type: "key", data: key });
    }
    if (start !== -1) {
      this.#paste = new PasteBuffer(this.#maxPaste);
      return text.slice(start + PASTE_START.length);
    }
    this.#buffer = text.slice(at);
    if (this.#buffer.length > MAX_SEQUENCE_LENGTH) this.#buffer = "";
    return undefined;
  }

  /** Returns the input after the end of the paste. */
  #pasted(chunk: string): string | undefined {
    const rest = this.#paste?.add(chunk);
    if (rest === undefined || this.#paste === undefined) return undefined;
    const { text, excess } = this.#paste;
    this.#paste = undefined;
    this.#onInput({ type: "paste", text, excess });
    return rest;
  }

  #flush(): void {
    const left = this.#buffer;
    this.#buffer = "";
    if (left === "\u001b" || left === "\u001b\u001b") this.#onInput({ type: "key", data: "\u001b" }); // other incomplete sequences are not keys
  }
}

/** Collects a paste in time that is linear in its length, and keeps at most `max` characters. */
class PasteBuffer {
  readonly #max: number;
  readonly #chunks: string[] = [];
  #length = 0;
  /** The last characters, which may be the start of the end marker. */
  #held = "";
  excess = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get text(): string {
    return this.#chunks.join("");
  }

  /** Returns the rest after the end marker, or undefined if the paste continues. */
  add(chunk: string): string | undefined {
    const text = this.#held + chunk;
    const end = text.indexOf(PASTE_END);
    if (end === -1) {
      const kept = Math.max(0, text.length - PASTE_END.length + 1);
      this.#keep(text.slice(0, kept));
      this.#held = text.slice(kept);
      return undefined;
    }
    this.#keep(text.slice(0, end));
    return text.slice(end + PASTE_END.length);
  }

  #keep(text: string): void {
    const room = Math.max(0, this.#max - this.#length);
    this.excess += Math.max(0, text.length - room);
    this.#length += Math.min(room, text.length);
    this.#chunks.push(text.slice(0, room));
  }
}
