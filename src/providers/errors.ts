/** What went wrong with a provider, in words that say what to do, and whether another try is worth it. */
import { APICallError } from "@ai-sdk/provider";
import { RookeryError, messageOf, type ErrorCode } from "../domain/index.ts";
import { trimEndOf } from "../stdx/trim.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderError, type Remedy } from "./provider-error.ts";
import { isDaily, isOverflow, isOverQuota, isWrongKey, typeStatus } from "./refusals.ts";
import { resetOf, waitOf, type Said } from "./waits.ts";

/** A provider that wants to be left alone for longer than this is a limit to wait for, not a rate to keep. */
const LONGEST_WAIT_MS = 60_000;

export function providerError(error: unknown, endpoint: Endpoint, now: () => number): RookeryError {
  const own = ownError(error);
  if (own !== undefined) return own;
  const heard = saidBy(error);
  const said = { ...heard, message: withoutSecrets(heard.message, endpoint) };
  const { status } = said;
  if (status !== undefined && status >= 400) return refusal({ ...said, status, cause: error }, endpoint, now);
  if (status !== undefined && status >= 300) return sentElsewhere({ ...said, status, cause: error }, endpoint);
  const { provider, baseUrl, urlVariable } = endpoint;
  const unanswered = APICallError.isInstance(error) && status === undefined;
  const network = networkCode(error) ?? (unanswered ? firstLine(withoutSecrets(error.message, endpoint)) : undefined);
  if (network !== undefined) {
    return new ProviderError(
      "provider_unreachable",
      `cannot reach ${baseUrl} (${network}): check the network, and ${urlVariable} if you set it`,
      { cause: error, ...(isWorthRetrying(network, baseUrl) && { retry: {} }) },
    );
  }
  if (rootOf(error) instanceof RangeError) {
    const message = `${provider} sent an answer that cannot be read, because it nests too deeply: prompt it again, or choose another model`;
    return new ProviderError("provider_failed", message, { cause: error });
  }
  const words = firstLine(withoutSecrets(textOf(rootOf(error)), endpoint));
  return new ProviderError("provider_failed", `${provider} broke off its answer (${words}): try again`, {
    cause: error,
    retry: {},
  });
}

/**
 * Our own mistakes must not be retried as if the provider had failed. The fetch of Node also throws TypeErrors: it
 * names a cause, except for "terminated" and "fetch failed" in some versions (seen in 20.20).
 */
export function isDefect(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError) return true;
  if (!(error instanceof TypeError) || error.cause !== undefined) return false;
  const { code = "", message } = error as NodeJS.ErrnoException;
  return !/^ERR_(INVALID_URL|SSL|TLS)/.test(code) && !/^(terminated|fetch failed)$/.test(message);
}

export function defect(error: unknown, { provider }: Endpoint): RookeryError {
  const message = `the request to ${provider} failed inside Rookery (${String(error)}): please report this defect`;
  return new RookeryError("internal", message, { cause: error });
}

function sentElsewhere({ status, headers, cause }: Refused, { baseUrl, urlVariable }: Endpoint): ProviderError {
  const { location = "" } = headers;
  const to = URL.canParse(location, baseUrl) ? new URL(location, baseUrl).origin : "somewhere else";
  const message = `${baseUrl} sends to ${to} (${status}), where no key is taken along: set ${urlVariable} to what is meant`;
  return new ProviderError("provider_refused", message, { cause });
}

/** Some servers repeat a key that they refuse, and what they say goes to the log. */
function withoutSecrets(text: string, { key = "", headers }: Endpoint): string {
  const secrets = [key, ...Object.values(headers)].filter(({ length }) => length >= SHORTEST_SECRET);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
}

/** What is shorter is no secret, and may be any word. */
const SHORTEST_SECRET = 8;

/** A server of this machine that does not listen was not started; one far away may be starting. */
function isWorthRetrying(network: string, baseUrl: string): boolean {
  if (/CERT|DEPTH_|SIGNED|UNABLE_TO|ERR_INVALID|bad port/.test(network)) return false;
  return !network.includes("ECONNREFUSED") || !/^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl);
}

interface Refused extends Said {
  readonly status: number;
  readonly cause: unknown;
}

function refusal(refused: Refused, endpoint: Endpoint, now: () => number): ProviderError {
  const { status, cause, headers } = refused;
  const { provider, model, baseUrl, keyVariable } = endpoint;
  const said = firstLine(refused.message);
  const worth = headers["x-should-retry"] !== "false";
  const make = (code: ErrorCode, message: string, remedy: Omit<Remedy, "cause"> = {}) =>
    new ProviderError(code, message, { cause, ...remedy });
  const again = (code: ErrorCode, message: string) =>
    make(code, message, worth ? { retry: { afterMs: waitOf(refused, now()) } } : {});
  if (isOverflow(refused)) {
    const fix = "start a new session, or choose a model with a longer context";
    return make(
      "context_overflow",
      `the conversation is too long for ${provider}/${model} (${status}: ${said}): ${fix}`,
    );
  }
  if (isWrongKey(refused)) {
    return make("provider_auth", `${provider} refused the key (${status}: ${said}): check ${keyVariable}`);
  }
  if (status === 429 || isOverQuota(refused)) return tooMuch(refused, { provider, said, worth }, now());
  switch (status) {
    case 404:
      return make(
        "model_not_found",
        `${baseUrl} has no model "${model}" (404: ${said}): choose another with --model, or in rookery.toml`,
      );
    case 408:
    case 409:
    case 425:
      return again("provider_failed", `${provider} failed (${status}: ${said}): try again later`);
    case 529:
      return again("provider_overloaded", `${provider} is overloaded (529: ${said}): try again later`);
    default:
      return status >= 500
        ? again("provider_failed", `${provider} failed (${status}: ${said}): try again later`)
        : make("provider_refused", `${provider} refused the request (${status}: ${said})`);
  }
}

/** A rate, which is over in a moment, or a limit, which is over at a time that may be known. */
function tooMuch(
  refused: Refused,
  { provider, said, worth }: { readonly provider: string; readonly said: string; readonly worth: boolean },
  now: number,
): ProviderError {
  const { status, cause } = refused;
  const afterMs = waitOf(refused, now);
  const reset = resetOf(refused, now);
  if (reset !== undefined || isDaily(refused) || isOverQuota(refused) || (afterMs ?? 0) > LONGEST_WAIT_MS) {
    const at = reset ?? (afterMs !== undefined && !isOverQuota(refused) ? now + afterMs : undefined);
    const resetsAt = at === undefined ? undefined : new Date(at).toISOString();
    const until = resetsAt === undefined ? "see your plan and what is left of it" : `wait until ${resetsAt}`;
    const message = `${provider} does no more for this account (${status}: ${said}): ${until}, then try again`;
    return new ProviderError("usage_limited", message, { cause, limit: { resetsAt } });
  }
  const when = afterMs === undefined ? "wait a while" : `wait ${Math.ceil(afterMs / 1000)} s`;
  return new ProviderError(
    "provider_rate_limited",
    `${provider} limits the rate (${status}: ${said}): ${when}, then try again`,
    { cause, ...(worth && { retry: { afterMs } }) },
  );
}

/** The same of an answer that is an error, and of an error that comes in the middle of an answer. */
function saidBy(error: unknown): Said {
  if (APICallError.isInstance(error)) {
    const { statusCode: status, responseHeaders: headers = {}, responseBody, data, message } = error;
    return { status, headers, body: jsonOf(responseBody) ?? data, message };
  }
  if (typeof error !== "object" || error === null)
    return { status: undefined, headers: {}, body: undefined, message: "" };
  const own = error as { readonly statusCode?: unknown; readonly code?: unknown };
  const numeric = [own.statusCode, own.code].find((value) => typeof value === "number" && value >= 400);
  const status = error instanceof Error ? undefined : ((numeric as number | undefined) ?? typeStatus(error));
  return { status, headers: {}, body: { error }, message: textOf(error) };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a proxy's page, or nothing
  }
}

/** Node hides the code of a failed connection some causes deep. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as NodeJS.ErrnoException).code;
    if (
      code !== undefined &&
      /^(E[A-Z_]+|UND_ERR_CONNECT\w*|UND_ERR_HEADERS\w*|CERT_\w+|DEPTH_\w+|SELF_SIGNED\w+|UNABLE_TO\w+)$/.test(code)
    )
      return code;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) return networkCode(at.errors[0]);
  }
  return undefined;
}

/** What we threw ourselves, also if the SDK put it into an error of its own. */
function ownError(error: unknown): RookeryError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof RookeryError) return at;
  }
  return undefined;
}

/** The SDK calls every broken stream a response that it failed to process; what broke it is said further down. */
function rootOf(error: unknown): unknown {
  return APICallError.isInstance(error) && error.cause !== undefined ? error.cause : error;
}

function textOf(error: unknown): string {
  const inner = typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return typeof inner === "string" ? inner : messageOf(error);
}

function firstLine(text: string): string {
  return trimEndOf((text.split("\n", 1)[0] ?? "").slice(0, 300).toWellFormed(), ".: \t\r\n");
}
