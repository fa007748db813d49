/** The schema of a budget. Separate from `budget.ts`, which the browser loads without zod. */
import { z } from "zod";

export const Budget = z.lazy(() =>
  z.strictObject({
    /** Input and output tokens. A task's budget covers all of its sessions. */
    tokens: z.int().positive().optional(),
    usd: z.number().positive().optional(),
    /** Model replies. Counted only for the built-in agent. */
    steps: z.int().positive().optional(),
    /** Working time. Waiting for a person, a usage limit or the queue does not count. */
    seconds: z.number().positive().optional(),
  }),
);
export type Budget = z.infer<typeof Budget>;
