/** The functions that run the steps, by step name. */

import type { StepContext } from "../step-context.ts";
import type { AcpSteps } from "./steps.ts";

export type StepHandlers = {
  readonly [Name in keyof AcpSteps]: (what: AcpSteps[Name], context: StepContext) => Promise<void>;
};
