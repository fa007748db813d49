/** The type of a contract case. */
import type { Behavior } from "./prompts.ts";
import type { User } from "./user.ts";

export interface Case {
  /** The title of the test. */
  readonly title: string;
  run(user: User): Promise<void>;
}

export type Cases = Partial<Record<Behavior, Case>>;
