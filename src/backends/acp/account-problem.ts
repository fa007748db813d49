/** Detects from an error message that an account has reached a limit or lacks a login. */
import type { LimitReached } from "../../domain/index.ts";

export type AccountProblem = LimitReached | { readonly status: "unauthorized" };

/** HTTP statuses that Gemini CLI 0.61 uses as error codes, and -32000 of the protocol. */
const LIMITED: ReadonlySet<number> = new Set([402, 429]);
const UNAUTHORIZED: ReadonlySet<number> = new Set([-32000, 401, 403]);

const LIMIT =
  /usage limit|(?:rate|usage|spend|spending|request|daily|weekly|monthly|hourly|hour|your|account|plan|credit|cost) limit (?:was |has been )?reached|(?<!disk )\bquota\b|rate.?limit|too many requests|exhausted your|resource.?exhausted|insufficient.(?:quota|balance|credits)|out of credits/i;
const LOGIN =
  /(?:api.?key|credentials?|token|authentication) (?:is |was |are )?(?:not valid|invalid|missing|expired|required)|(?:invalid|incorrect|missing|no|expired) (?:\w+ ){0,2}(?:api.?key|credentials?|(?:access|api|auth|bearer|id|login|oauth|refresh|session) token)|(?:invalid|expired) token\b(?! (?:in|at)\b)|unauthenticated|unauthorized|not (?:logged|signed) in|(?:log|sign) in (?:first|again)|please (?:log|sign) in|auth(?:entication)? (?:method|failed|required)|must specify the \w+_API_KEY/i;

/** `code` is the error code, if any; `now` is the time of the message in epoch milliseconds. */
export function detectAccountProblem(words: string, now: number, code?: number): AccountProblem | undefined {
  if (code !== undefined && LIMITED.has(code)) return toLimit(words, now);
  if (code !== undefined && UNAUTHORIZED.has(code)) return { status: "unauthorized" };
  if (LIMIT.test(words)) return toLimit(words, now);
  return LOGIN.test(words) ? { status: "unauthorized" } : undefined;
}

function toLimit(message: string, now: number): LimitReached {
  const resetsAt = findResetTime(message, now);
  return { status: "limited", message, ...(resetsAt !== undefined && { resetsAt }) };
}

const MOMENT = /\b(20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))/;
const EPOCH = /limit reached\|(\d{10})\b/;
const WAIT =
  /(?:resets?|retry|try again|available again|retry.?delay)\W{0,4}(?:after|in)?\W{0,4}((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)[\s,]*(?:and\s+)?)+)/i;
const PART = /(?<!\d)(\d+(?:\.\d+)?)\s*([a-z]+)/gi;
/** Reset times further away are misread numbers. */
const MAX_RESET_MS = 366 * 24 * 3_600_000;

function findResetTime(words: string, now: number): string | undefined {
  const moment = MOMENT.exec(words)?.[1] ?? "";
  const epoch = Number(EPOCH.exec(words)?.[1] ?? Number.NaN) * 1_000;
  const wait = WAIT.exec(words)?.[1];
  const at = [Date.parse(moment), epoch, wait === undefined ? Number.NaN : now + parseDuration(wait)].find(
    (time) => time > now && time - now < MAX_RESET_MS,
  );
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** Parses durations such as "3h12m5s", "2 hours and 5 minutes" or "11520.5s" into milliseconds. */
function parseDuration(text: string): number {
  return [...text.matchAll(PART)].reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * unitMs(unit), 0);
}

function unitMs(unit: string): number {
  if (/^(?:ms|milli)/i.test(unit)) return 1;
  const ms: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
  return ms[unit.charAt(0).toLowerCase()] ?? 0;
}
