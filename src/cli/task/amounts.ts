/** Parses amounts that people type: budgets and sizes. */
import type { Budget } from "../../domain/budget-schema.ts";
import { usageError } from "../exit.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const MULTIPLIERS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6 };
const BYTES: Readonly<Record<string, number>> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };
const AMOUNT = String.raw`(\d{1,15}(?:\.\d{1,6})?)`;

/** Parses `5usd,200000tokens,100steps,30m`: each unit at most once, in any order. Throws `usage`. */
export function parseBudget(text: string): Budget {
  const budget: { -readonly [Unit in keyof Budget]: Budget[Unit] } = {};
  for (const part of text.split(/[,\s]+/).filter((word) => word !== "")) {
    const [name, amount] = parseBudgetPart(part.toLowerCase()) ?? [];
    if (name === undefined || amount === undefined || amount <= 0 || budget[name] !== undefined)
      throw invalidBudget(text);
    budget[name] = amount;
  }
  if (Object.keys(budget).length === 0) throw invalidBudget(text);
  return budget;
}

function parseBudgetPart(part: string): [keyof Budget, number] | undefined {
  const usd = new RegExp(`^(?:\\$${AMOUNT}|${AMOUNT}usd)$`).exec(part);
  if (usd !== null) return ["usd", Number(usd[1] ?? usd[2])];
  const tokens = new RegExp(`^${AMOUNT}([km]?)tokens?$`).exec(part);
  if (tokens !== null) return ["tokens", Math.round(Number(tokens[1]) * (MULTIPLIERS[tokens[2] ?? ""] ?? 1))];
  const steps = /^(\d{1,9})steps?$/.exec(part);
  if (steps !== null) return ["steps", Number(steps[1])];
  const time = new RegExp(`^${AMOUNT}([smhd])$`).exec(part);
  return time === null ? undefined : ["seconds", Number(time[1]) * (SECONDS[time[2] ?? ""] ?? 1)];
}

function invalidBudget(text: string): Error {
  return usageError(`--budget must be positive amounts such as "5usd,200000tokens,30m", each unit once, not "${text}"`);
}

/** Parses `500MB`, `2.5GB` or `0` into bytes. Throws `usage`. */
export function parseSize(text: string): number {
  const [, amount, unit = ""] = new RegExp(`^${AMOUNT} ?([kmgt]?b)?$`).exec(text.toLowerCase()) ?? [];
  if (amount === undefined) throw usageError(`--quota must be a size such as 500MB, 20GB or 0, not "${text}"`);
  return Math.round(Number(amount) * (BYTES[unit] ?? 1));
}
