/** Reads how long a provider asks to wait, in the formats of all APIs. */

/** An error response of a provider. */
export interface ProviderResponse {
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON. */
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
/** Longer waits count as mistakes. */
const MAX_WAIT_MS = 60 * DAY;

/** Returns the error object of a response. Every API has it under `error`, some inside an array. */
export function readErrorObject({ body }: ProviderResponse): WireError {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const inner = readField(outer, "error") ?? outer;
  return typeof inner === "object" && inner !== null ? (inner as WireError) : {};
}

/** Returns milliseconds, or undefined if the provider asked for no delay. */
export function findRetryDelay(response: ProviderResponse, now: number): number | undefined {
  const { headers, message } = response;
  const ways = [
    parseFiniteNumber(headers["retry-after-ms"]),
    parseRetryAfter(headers["retry-after"], now),
    parseDuration(findGeminiRetryDelay(response)),
    parseDuration(/(?:try again|retry) (?:in|after) ((?:[\d.]+\s?(?:ms|[hms])[a-z]*\s?)+)/i.exec(message)?.[1]),
  ];
  return ways.find((wait) => wait !== undefined && wait >= 0 && wait <= MAX_WAIT_MS);
}

/** Returns when an exhausted account can be used again, in milliseconds since 1970. */
export function findLimitReset(response: ProviderResponse, now: number): number | undefined {
  const ways = [unifiedReset(response), bodyReset(response, now), dailyReset(response, now), messageReset(response)];
  return ways.find((at) => at !== undefined && at > now && at <= now + MAX_WAIT_MS);
}

/** Anthropic accounts with a plan. The account is usable again when the last exhausted window resets. */
function unifiedReset({ headers }: ProviderResponse): number | undefined {
  const rejected = Object.entries(headers).flatMap(([name, value]) => {
    const window = /^anthropic-ratelimit-(unified(?:-\w+)?)-status$/.exec(name)?.[1];
    if (window === undefined || value !== "rejected") return [];
    return parseFiniteNumber(headers[`anthropic-ratelimit-${window}-reset`]) ?? [];
  });
  return rejected.length === 0 ? undefined : Math.max(...rejected) * SECOND;
}

/** OpenAI accounts with a plan, and OpenRouter. */
function bodyReset(response: ProviderResponse, now: number): number | undefined {
  const error = readErrorObject(response);
  const at = parseFiniteNumber(error["resets_at"]);
  if (at !== undefined) return at * SECOND;
  const after = parseFiniteNumber(error["resets_in_seconds"]);
  if (after !== undefined) return now + after * SECOND;
  return parseFiniteNumber(readField(readField(error.metadata, "headers"), "X-RateLimit-Reset"));
}

/** Gemini's days end at midnight in California. */
function dailyReset(response: ProviderResponse, now: number): number | undefined {
  if (!JSON.stringify(readErrorObject(response).details ?? "").includes("PerDay")) return undefined;
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "America/Los_Angeles", timeStyle: "medium" });
  const [hours = 0, minutes = 0, seconds = 0] = clock.format(now).split(":").map(Number);
  return now - (now % SECOND) + DAY - ((hours * 60 + minutes) * 60 + seconds) * SECOND;
}

/** An older format of Anthropic's messages. */
function messageReset({ message }: ProviderResponse): number | undefined {
  const at = parseFiniteNumber(/limit reached\|(\d{10})\b/.exec(message)?.[1]);
  return at === undefined ? undefined : at * SECOND;
}

/** Parses seconds or a date. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = parseFiniteNumber(value);
  if (seconds !== undefined) return seconds * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Gemini sends a value such as `"34s"` in the details. */
function findGeminiRetryDelay(response: ProviderResponse): string | undefined {
  const { details } = readErrorObject(response);
  if (!Array.isArray(details)) return undefined;
  const delay = details.map((detail: unknown) => readField(detail, "retryDelay")).find((value) => value !== undefined);
  return typeof delay === "string" ? delay : undefined;
}

/** Parses `1h2m3.5s`, `20s`, `850ms` or `6 minutes`. */
function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units = { ms: 1, s: SECOND, m: 60 * SECOND, h: 60 * 60 * SECOND } as const;
  let wait: number | undefined;
  for (const [, amount, unit] of text.matchAll(/(?<![\d.])([\d.]+)\s?(ms|[hms])/gi)) {
    wait = (wait ?? 0) + Number(amount) * units[(unit ?? "s").toLowerCase() as keyof typeof units];
  }
  return wait === undefined || Number.isNaN(wait) ? undefined : Math.ceil(wait);
}

function parseFiniteNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const read = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  return Number.isFinite(read) ? read : undefined;
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
