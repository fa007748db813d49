/** All cases of the contract suite, by behavior. */
import { continuingCases } from "./continuing-cases.ts";
import { stoppingCases } from "./stopping-cases.ts";
import { messageCases } from "./message-cases.ts";
import { toolCases } from "./tool-cases.ts";
import { failureCases } from "./failure-cases.ts";
import type { Case } from "./case.ts";
import type { Behavior } from "./prompts.ts";

export const CASES: Record<Behavior, Case> = {
  ...messageCases,
  ...toolCases,
  ...continuingCases,
  ...stoppingCases,
  ...failureCases,
};
