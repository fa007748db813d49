/** One defect as a scenario that any implementation can be put through. */

import type { Subject } from "./test-subject.ts";

export type Verdict = "right" | `wrong: ${string}`;

export interface Scenario {
  /** The defect's number in the list that these tests keep. */
  readonly id: number;
  /** What a right implementation does. */
  readonly name: string;
  readonly run: (subject: Subject) => Promise<Verdict>;
  /** What the official SDK 2.4.0 does instead, word for word, so that half a repair is noticed too. */
  readonly sdk: Verdict;
}

/** Right without faults; otherwise all of them. */
export function verdict(...faults: (string | undefined)[]): Verdict {
  const found = faults.filter((fault) => fault !== undefined);
  return found.length === 0 ? "right" : `wrong: ${found.join("; ")}`;
}
