/** What one side of a connection saw, and whether that is the order in which it came. */

interface Note {
  readonly what: "starts" | "ends" | "calls" | "has its answer";
  readonly key: string;
}

export class OrderLog {
  readonly #notes: Note[] = [];
  /** What was put on the wire towards this side, in order. */
  readonly wire: string[] = [];
  /** Need not start: whoever asked has cancelled it. */
  readonly cancelled = new Set<string>();

  /** A message is given to whoever is there for it. */
  starts(key: string): void {
    this.#notes.push({ what: "starts", key });
  }

  /** It keeps the next waiting no longer. One that never keeps anything waiting has no end. */
  ends(key: string): void {
    this.#notes.push({ what: "ends", key });
  }

  /** The peer is called in a way that keeps nothing waiting until the answer is there. */
  calls(key: string): void {
    this.#notes.push({ what: "calls", key });
  }

  answered(key: string): void {
    this.#notes.push({ what: "has its answer", key });
  }

  /** All that is wrong: lost, doubled, reordered, or begun while something else was in its place. */
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
