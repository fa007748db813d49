/** Budgets and used amounts of a session, of one agent in it, and of its task. */
import type { Budget } from "./budget-schema.ts";

export const BUDGET_UNITS = ["usd", "tokens", "steps", "seconds"] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

export const BUDGET_HOLDERS = ["agent", "session", "task"] as const;
export type BudgetHolder = (typeof BUDGET_HOLDERS)[number];

/** Used amounts; undefined if unknown. */
export type Amounts = { readonly [Unit in BudgetUnit]: number | undefined };

/** The budgets of a session, from its log. */
export interface SessionBudgets {
  readonly session: Budget | undefined;
  readonly task: TaskBudget | undefined;
  /** Limits that a person raised, by `raisedKey`; null means no limit. */
  readonly raised: Readonly<Record<string, number | null>>;
}

export interface TaskBudget {
  readonly budget: Budget;
  /** Amounts that other sessions of the task have used. */
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

/** A different budget resets the limits that a person raised. The same budget keeps them. */
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

/** Formats an amount for people: `1.00 USD`, `20 steps`, `30 minutes`. */
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
