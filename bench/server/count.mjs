// Counts the numbered texts of ./burst.mjs in a stream of frames. A frame may contain several texts.
const BAR = "|".charCodeAt(0);
const HASH = "#".charCodeAt(0);
const [ZERO, NINE] = ["0".charCodeAt(0), "9".charCodeAt(0)];
const HEAD = 600;

export class Count {
  received = 0;
  again = 0;
  disordered = 0;
  /** A monotonic time in milliseconds that all processes share. */
  lastAt = 0;
  #seen;
  #next = 0;
  #rest = [];
  #frame;

  /**
   * `end` terminates a frame. Only frames with the word `only` near their start count, because servers repeat the full
   * text at the end, which would hide lost texts. A number is `N#M|`, where N
   * counts up to `inARound` in each round M.
   */
  constructor({ total, inARound, end = "\n\n", only }) {
    this.#seen = new Uint8Array(total);
    this.#frame = { end, only, inARound };
  }

  get isWhole() {
    return this.received === this.#seen.length;
  }

  take(chunk) {
    const known = this.received;
    const { end } = this.#frame;
    // A terminator may be split between chunks, so the last bytes are searched again.
    const cut = this.#rest.length > 0 ? this.#rest.pop() : undefined;
    const bytes = cut === undefined ? chunk : Buffer.concat([cut, chunk]);
    let start = 0;
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, start)) {
      this.#whole(bytes.subarray(start, at));
      start = at + end.length;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    if (this.received > known) this.lastAt = now();
  }

  figures() {
    const { received, again, disordered, lastAt } = this;
    return { received, lost: this.#seen.length - received, again, disordered, lastAt };
  }

  /** Collects the chunks of a frame, which are joined once at its end. */
  #keep(bytes) {
    const tail = Math.max(0, bytes.length - this.#frame.end.length);
    if (tail > 0) this.#rest.push(bytes.subarray(0, tail));
    this.#rest.push(bytes.subarray(tail));
  }

  #whole(last) {
    const frame = this.#rest.length === 0 ? last : Buffer.concat([...this.#rest, last]);
    this.#rest = [];
    if (!frame.subarray(0, HEAD).includes(this.#frame.only)) return;
    for (let bar = frame.indexOf(BAR); bar !== -1; bar = frame.indexOf(BAR, bar + 1)) this.#note(frame, bar);
  }

  #note(frame, bar) {
    const round = numberBefore(frame, bar);
    if (frame[round.at] !== HASH) return;
    const number = round.value * this.#frame.inARound + numberBefore(frame, round.at).value;
    if (this.#seen[number] === 1) this.again += 1;
    else {
      this.#seen[number] = 1;
      this.received += 1;
      if (number < this.#next) this.disordered += 1;
    }
    this.#next = number + 1;
  }
}

export function now() {
  return performance.timeOrigin + performance.now();
}

/** Parses the digits that end at this position. Returns the number and the position before it. */
function numberBefore(bytes, end) {
  let [value, worth, at] = [0, 1, end - 1];
  for (; at >= 0 && bytes[at] >= ZERO && bytes[at] <= NINE; at -= 1) {
    value += (bytes[at] - ZERO) * worth;
    worth *= 10;
  }
  return { value, at };
}
