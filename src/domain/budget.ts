/** What may be used, and how much of it was: of a session, of one agent in it, and of the task that it is of. */
import { z } from "zod";

export const Budget = z.lazy(() =>
  z.strictObject({
    /** In and out, of all sessions together where it is a task's. */
    tokens: z.int().positive().optional(),
    usd: z.number().positive().optional(),
    /** Replies of the model. Counted for the built-in agent alone. */
    steps: z.int().positive().optional(),
    /** While it works: waiting for a person, for a limit to pass or in a queue costs nothing. */
    seconds: z.number().positive().optional(),
  }),
);
export type Budget = z.infer<typeof Budget>;

export const BUDGET_UNITS = ["usd", "tokens", "steps", "seconds"] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

export const BUDGET_HOLDERS = ["agent", "session", "task"] as const;
export type BudgetHolder = (typeof BUDGET_HOLDERS)[number];

/** What was used; undefined where nobody knows. */
export type Amounts = { readonly [Unit in BudgetUnit]: number | undefined };

/** What the log of a session says of its budgets. */
export interface SessionBudgets {
  readonly session: Budget | undefined;
  readonly task: TaskBudget | undefined;
  /** By `raisedKey`, where a person allowed more: up to there, or without end. */
  readonly raised: Readonly<Record<string, number | null>>;
}

export interface TaskBudget {
  readonly budget: Budget;
  /** What the task has used beside this session. */
  readonly elsewhere: Amounts;
}

export const NO_BUDGETS: SessionBudgets = { session: undefined, task: undefined, raised: {} };

export function raisedKey(of: BudgetHolder, unit: BudgetUnit, agent: string): string {
  return of === "agent" ? `${of}.${unit}.${agent}` : `${of}.${unit}`;
}

interface BudgetSet {
  readonly of: "session" | "task";
  readonly budget: Budget;
  readonly elsewhere?: Partial<Amounts> | undefined;
}

/** Another budget counts as it is said; the same one, said again, takes back nothing that was allowed. */
export function budgetsAfter(budgets: SessionBudgets, { of, budget, elsewhere = {} }: BudgetSet): SessionBudgets {
  const before = of === "session" ? budgets.session : budgets.task?.budget;
  const raised = isSameBudget(before, budget)
    ? budgets.raised
    : Object.fromEntries(Object.entries(budgets.raised).filter(([key]) => !key.startsWith(`${of}.`)));
  if (of === "session") return { ...budgets, session: budget, raised };
  const { tokens = 0, usd, steps = 0, seconds = 0 } = elsewhere;
  return { ...budgets, task: { budget, elsewhere: { tokens, usd, steps, seconds } }, raised };
}

export function isSameBudget(one: Budget | undefined, other: Budget | undefined): boolean {
  return one !== undefined && other !== undefined && BUDGET_UNITS.every((unit) => one[unit] === other[unit]);
}

/** As people read it: `1.00 USD`, `20 steps`, `30 minutes`. */
export function amountText(unit: BudgetUnit, amount: number): string {
  switch (unit) {
    case "usd":
      return `${amount.toFixed(amount !== 0 && amount < 0.01 ? 6 : 2)} USD`;
    case "tokens":
    case "steps":
      return formatCount(amount, unit);
    case "seconds":
      return amount >= 60 ? formatCount(amount / 60, "minutes") : formatCount(amount, unit);
  }
}

function formatCount(amount: number, units: string): string {
  const rounded = Number(amount.toFixed(1));
  return `${rounded} ${rounded === 1 ? units.slice(0, -1) : units}`;
}

export function budgetText(budget: Budget): string {
  const parts = BUDGET_UNITS.flatMap((unit) => {
    const amount = budget[unit];
    return amount === undefined ? [] : [amountText(unit, amount)];
  });
  return parts.join(", ");
}
