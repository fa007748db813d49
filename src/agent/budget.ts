/** Which budget one step more would overdraw; no clock, no I/O. */
import {
  amountText,
  BUDGET_HOLDERS,
  BUDGET_UNITS,
  raisedKey,
  type Amounts,
  type Budget,
  type BudgetHolder,
  type BudgetUnit,
  type Spent,
} from "../domain/index.ts";

export interface Overdrawn {
  readonly of: BudgetHolder;
  readonly unit: BudgetUnit;
  /** What was given, and to where it was raised since. */
  readonly given: number;
  readonly limit: number;
  /** Undefined where nobody knows. */
  readonly used: number | undefined;
}

/** Whose they are, and what a step costs with them. */
export interface Drawing {
  readonly agentName: string;
  readonly budget: Budget | undefined;
  /** Is it known what a step costs? */
  readonly isPriced: boolean;
}

/** The first that has nothing left, but for those that do not hold in this turn. */
export function overdrawn(drawing: Drawing, spent: Spent, lifted: ReadonlySet<string>): Overdrawn | undefined {
  for (const of of BUDGET_HOLDERS) {
    const { budget, used } = accountOf(of, drawing, spent);
    for (const unit of BUDGET_UNITS) {
      const given = budget?.[unit];
      const key = raisedKey(of, unit, drawing.agentName);
      const raised = spent.budgets.raised[key];
      if (given === undefined || raised === null || lifted.has(key)) continue;
      const limit = Math.max(given, raised ?? 0);
      const amount = unit === "usd" && !drawing.isPriced ? undefined : used[unit];
      if (amount === undefined || amount >= limit) return { of, unit, given, limit, used: amount };
    }
  }
  return undefined;
}

/** What is over, in the same words whenever it is said: a question is known by them after a crash. */
export function overdrawnWords({ of, unit, limit, used }: Overdrawn, agentName: string): string {
  const who = of === "agent" ? `agent ${agentName}` : `the ${of}`;
  const where = of === "agent" ? " in this session" : "";
  if (used === undefined) {
    return `what ${who} costs${where} is not known for this model, so that a budget of ${amountText(unit, limit)} cannot be kept`;
  }
  if (unit === "seconds") return `${who} has worked for its ${amountText(unit, limit)}${where}`; // how long it was to the second differs
  const [amount, of_] = [amountText(unit, used), amountText(unit, limit)];
  return `${who} has used ${amount.slice(0, amount.indexOf(" "))} of ${of_}${where}`;
}

/** As much again, from what is used now; without end where nobody knows what that is. */
export function raisedTo({ given, used }: Overdrawn): number | null {
  return used === undefined ? null : used + given;
}

function accountOf(
  of: BudgetHolder,
  { budget }: Drawing,
  { session, agent, budgets }: Spent,
): { readonly budget: Budget | undefined; readonly used: Amounts } {
  switch (of) {
    case "agent":
      return { budget, used: agent };
    case "session":
      return { budget: budgets.session, used: session };
    case "task":
      return { budget: budgets.task?.budget, used: sum(session, budgets.task?.elsewhere) };
  }
}

function sum(one: Amounts, other: Amounts | undefined): Amounts {
  if (other === undefined) return one;
  const of = (unit: BudgetUnit): number | undefined => {
    const [a, b] = [one[unit], other[unit]];
    return a === undefined || b === undefined ? undefined : a + b;
  };
  return { usd: of("usd"), tokens: of("tokens"), steps: of("steps"), seconds: of("seconds") };
}
