/** All cases of the contract suite, by behavior. */
import { goingOn } from "./going-on.ts";
import { stopping } from "./stopping.ts";
import { talking } from "./talking.ts";
import { tools } from "./tools.ts";
import { troubles } from "./troubles.ts";
import type { User } from "./user.ts";
import type { Behaviour } from "./words.ts";

export interface Case {
  /** The title of the test. */
  readonly says: string;
  run(user: User): Promise<void>;
}

export type Cases = Partial<Record<Behaviour, Case>>;

export const CASES: Record<Behaviour, Case> = { ...talking, ...tools, ...goingOn, ...stopping, ...troubles };
