/** How long a provider wants to be left alone, in each of the ways in which that is said. */

/** What a provider answered. */
export interface Said {
  readonly status: number | undefined;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As JSON, where it is. */
  readonly body: unknown;
  readonly message: string;
}

interface WireError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
  readonly metadata?: unknown;
  readonly [key: string]: unknown;
}

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
/** What is said to last longer is a mistake. */
const LONGEST = 60 * DAY;

/** The object that says what was wrong: under `error` in every API, with a list around it in some. */
export function errorOf({ body }: Said): WireError {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const inner = field(outer, "error") ?? outer;
  return typeof inner === "object" && inner !== null ? (inner as WireError) : {};
}

/** Milliseconds; undefined where nothing was said. */
export function waitOf(said: Said, now: number): number | undefined {
  const { headers, message } = said;
  const ways = [
    number(headers["retry-after-ms"]),
    retryAfter(headers["retry-after"], now),
    duration(retryInfo(said)),
    duration(/(?:try again|retry) (?:in|after) ((?:[\d.]+\s?(?:ms|[hms])[a-z]*\s?)+)/i.exec(message)?.[1]),
  ];
  return ways.find((wait) => wait !== undefined && wait >= 0 && wait <= LONGEST);
}

/** Milliseconds since 1970 at which an account that is used up may do more. */
export function resetOf(said: Said, now: number): number | undefined {
  const ways = [unifiedReset(said), bodyReset(said, now), dailyReset(said, now), messageReset(said)];
  return ways.find((at) => at !== undefined && at > now && at <= now + LONGEST);
}

/** Anthropic, for accounts with a plan: the account is free again once the last of its windows is. */
function unifiedReset({ headers }: Said): number | undefined {
  const rejected = Object.entries(headers).flatMap(([name, value]) => {
    const window = /^anthropic-ratelimit-(unified(?:-\w+)?)-status$/.exec(name)?.[1];
    if (window === undefined || value !== "rejected") return [];
    return number(headers[`anthropic-ratelimit-${window}-reset`]) ?? [];
  });
  return rejected.length === 0 ? undefined : Math.max(...rejected) * SECOND;
}

/** OpenAI for accounts with a plan, and OpenRouter. */
function bodyReset(said: Said, now: number): number | undefined {
  const error = errorOf(said);
  const at = number(error["resets_at"]);
  if (at !== undefined) return at * SECOND;
  const after = number(error["resets_in_seconds"]);
  if (after !== undefined) return now + after * SECOND;
  return number(field(field(error.metadata, "headers"), "X-RateLimit-Reset"));
}

/** Gemini counts days by the clock of California. */
function dailyReset(said: Said, now: number): number | undefined {
  if (!JSON.stringify(errorOf(said).details ?? "").includes("PerDay")) return undefined;
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "America/Los_Angeles", timeStyle: "medium" });
  const [hours = 0, minutes = 0, seconds = 0] = clock.format(now).split(":").map(Number);
  return now - (now % SECOND) + DAY - ((hours * 60 + minutes) * 60 + seconds) * SECOND;
}

/** What Anthropic once said to its own program. */
function messageReset({ message }: Said): number | undefined {
  const at = number(/limit reached\|(\d{10})\b/.exec(message)?.[1]);
  return at === undefined ? undefined : at * SECOND;
}

/** Seconds, or a date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = number(value);
  if (seconds !== undefined) return seconds * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Gemini: `"34s"` among the details. */
function retryInfo(said: Said): string | undefined {
  const { details } = errorOf(said);
  if (!Array.isArray(details)) return undefined;
  const delay = details.map((detail: unknown) => field(detail, "retryDelay")).find((value) => value !== undefined);
  return typeof delay === "string" ? delay : undefined;
}

/** `1h2m3.5s`, `20s`, `850ms`, `6 minutes`. */
function duration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units = { ms: 1, s: SECOND, m: 60 * SECOND, h: 60 * 60 * SECOND } as const;
  let wait: number | undefined;
  for (const [, amount, unit] of text.matchAll(/(?<![\d.])([\d.]+)\s?(ms|[hms])/gi)) {
    wait = (wait ?? 0) + Number(amount) * units[(unit ?? "s").toLowerCase() as keyof typeof units];
  }
  return wait === undefined || Number.isNaN(wait) ? undefined : Math.ceil(wait);
}

function number(value: unknown): number | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const read = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  return Number.isFinite(read) ? read : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
