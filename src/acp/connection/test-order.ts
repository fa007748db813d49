/** Records what one side of a connection handled, and checks the order against the wire. */

interface Note {
  readonly what: "starts" | "ends" | "calls" | "has its answer";
  readonly key: string;
}

export class OrderLog {
  readonly #notes: Note[] = [];
  /** What was sent to this side, in order. */
  readonly wire: string[] = [];
  /** Cancelled requests, which need not start. */
  readonly cancelled = new Set<string>();

  /** A message is passed to its receiver. */
  starts(key: string): void {
    this.#notes.push({ what: "starts", key });
  }

  /** The message blocks the next one no longer. Messages that never block have no end. */
  ends(key: string): void {
    this.#notes.push({ what: "ends", key });
  }

  /** The peer is called without blocking anything until the answer arrives. */
  calls(key: string): void {
    this.#notes.push({ what: "calls", key });
  }

  answered(key: string): void {
    this.#notes.push({ what: "has its answer", key });
  }

  /** Everything that is wrong: lost, duplicated, reordered, or started while another message blocked. */
  faults({ complete }: { readonly complete: boolean }): string[] {
    return [...this.#misplaced(complete), ...this.#overlapping()];
  }

  #misplaced(complete: boolean): string[] {
    const started = this.#notes.flatMap(({ what, key }) => (what === "starts" ? [key] : []));
    const seen = new Set(started);
    const expected = this.wire.filter((key) => seen.has(key) || !this.cancelled.has(key));
    if (!complete) expected.length = Math.min(expected.length, started.length);
    const at = Math.max(started.length, expected.length);
    for (let index = 0; index < at; index += 1) {
      if (started[index] === expected[index]) continue;
      return [`${started[index] ?? "nothing"} was in the place of ${expected[index] ?? "nothing"} (${index} of ${at})`];
    }
    return [];
  }

  #overlapping(): string[] {
    const faults: string[] = [];
    const open = new Map<string, number>();
    const ending = new Set(this.#notes.flatMap(({ what, key }) => (what === "ends" ? [key] : [])));
    const calls = new Set<string>();
    let lastCalled = -1;
    this.#notes.forEach(({ what, key }, index) => {
      if (calls.size > 0) lastCalled = index;
      if (what === "calls") calls.add(key);
      else if (what === "has its answer") calls.delete(key);
      else if (what === "ends") open.delete(key);
      else {
        for (const [other, since] of open) {
          if (lastCalled <= since) faults.push(`${key} began although ${other} was not done`);
        }
        if (ending.has(key)) open.set(key, index);
      }
    });
    return faults;
  }
}
