/** One defect as a scenario that runs against any implementation. */

import type { Subject } from "./test-subject.ts";

export type Verdict = "right" | `wrong: ${string}`;

export interface Scenario {
  /** The defect's number in the list of these tests. */
  readonly id: number;
  /** What a correct implementation does. */
  readonly name: string;
  readonly run: (subject: Subject) => Promise<Verdict>;
  /** What the official SDK 2.4.0 does instead, word for word, so that a partial fix is noticed too. */
  readonly sdk: Verdict;
}

/** `right` without faults; otherwise lists all of them. */
export function verdict(...faults: (string | undefined)[]): Verdict {
  const found = faults.filter((fault) => fault !== undefined);
  return found.length === 0 ? "right" : `wrong: ${found.join("; ")}`;
}
