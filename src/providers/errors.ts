/** Turns a provider's failure into an error that says what to do and whether to retry. */
import { APICallError } from "@ai-sdk/provider";
import { RookeryError, messageOf, type ErrorCode } from "../domain/index.ts";
import { trimEndOf } from "../stdx/trim.ts";
import type { ModelEndpoint } from "./endpoint.ts";
import { ProviderError, type ProviderErrorOptions } from "../domain/provider-error.ts";
import { isDailyQuota, isContextOverflow, isOverQuota, isWrongKey, streamErrorStatus } from "./classify-error.ts";
import { findLimitReset, findRetryDelay, type ProviderResponse } from "./retry-after.ts";

/** A longer delay is a usage limit to wait for, not a rate limit to retry after. */
const MAX_RETRY_WAIT_MS = 60_000;

export function toProviderError(error: unknown, endpoint: ModelEndpoint, now: () => number): RookeryError {
  const own = findRookeryError(error);
  if (own !== undefined) return own;
  const raw = readErrorResponse(error);
  const response = { ...raw, message: redactSecrets(raw.message, endpoint) };
  const { status } = response;
  if (status !== undefined && status >= 400)
    return toResponseError({ ...response, status, cause: error }, endpoint, now);
  if (status !== undefined && status >= 300) return redirectError({ ...response, status, cause: error }, endpoint);
  const { provider, baseUrl, urlVariable } = endpoint;
  const unanswered = APICallError.isInstance(error) && status === undefined;
  const network =
    findNetworkCode(error) ?? (unanswered ? firstLine(redactSecrets(error.message, endpoint)) : undefined);
  if (network !== undefined) {
    return new ProviderError(
      "provider_unreachable",
      `cannot reach ${baseUrl} (${network}): check the network, and ${urlVariable} if you set it`,
      { cause: error, ...(isWorthRetrying(network, baseUrl) && { retry: {} }) },
    );
  }
  if (unwrapCause(error) instanceof RangeError) {
    const message = `${provider} sent a reply that nests too deeply to be read: send the prompt again, or choose another model`;
    return new ProviderError("provider_failed", message, { cause: error });
  }
  const detail = firstLine(redactSecrets(readErrorMessage(unwrapCause(error)), endpoint));
  return new ProviderError("provider_failed", `${provider} interrupted its reply (${detail}): try again`, {
    cause: error,
    retry: {},
  });
}

/**
 * Tells a bug in Rookery from a failure of the provider, because bugs must not be retried. Node's fetch also throws
 * TypeErrors; they have a cause, except for "terminated" and "fetch failed" in some versions (seen in 20.20).
 */
export function isInternalDefect(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError) return true;
  if (!(error instanceof TypeError) || error.cause !== undefined) return false;
  const { code = "", message } = error as NodeJS.ErrnoException;
  return !/^ERR_(INVALID_URL|SSL|TLS)/.test(code) && !/^(terminated|fetch failed)$/.test(message);
}

export function toInternalError(error: unknown, { provider }: ModelEndpoint): RookeryError {
  const message = `the request to ${provider} failed inside Rookery (${String(error)}): please report this bug`;
  return new RookeryError("internal", message, { cause: error });
}

function redirectError(
  { status, headers, cause }: FailedResponse,
  { baseUrl, urlVariable }: ModelEndpoint,
): ProviderError {
  const { location = "" } = headers;
  const target = URL.canParse(location, baseUrl) ? new URL(location, baseUrl).origin : "another server";
  const message = `${baseUrl} redirects to ${target} (${status}), and Rookery does not send the key there: set ${urlVariable} to the right address`;
  return new ProviderError("provider_refused", message, { cause });
}

/**
 * Removes keys and header values from a message, because some servers repeat a rejected key and messages go to the log.
 */
function redactSecrets(text: string, { key = "", headers }: ModelEndpoint): string {
  const secrets = [key, ...Object.values(headers)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
}

/** A shorter value could be any word. */
const MIN_SECRET_LENGTH = 8;

/**
 * Does not retry certificate errors, or a local server that refuses connections: it is not running. A remote one may be
 * starting.
 */
function isWorthRetrying(network: string, baseUrl: string): boolean {
  if (/CERT|DEPTH_|SIGNED|UNABLE_TO|ERR_INVALID|bad port/.test(network)) return false;
  return !network.includes("ECONNREFUSED") || !/^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl);
}

interface FailedResponse extends ProviderResponse {
  readonly status: number;
  readonly cause: unknown;
}

function toResponseError(refused: FailedResponse, endpoint: ModelEndpoint, now: () => number): ProviderError {
  const { status, cause, headers } = refused;
  const { provider, model, baseUrl, keyVariable } = endpoint;
  const detail = firstLine(refused.message);
  const isRetryable = headers["x-should-retry"] !== "false";
  const make = (code: ErrorCode, message: string, remedy: Omit<ProviderErrorOptions, "cause"> = {}) =>
    new ProviderError(code, message, { cause, ...remedy });
  const retryable = (code: ErrorCode, message: string) =>
    make(code, message, isRetryable ? { retry: { afterMs: findRetryDelay(refused, now()) } } : {});
  if (isContextOverflow(refused)) {
    const fix = "start a new session, or choose a model with a longer context";
    return make(
      "context_overflow",
      `the conversation is too long for ${provider}/${model} (${status}: ${detail}): ${fix}`,
    );
  }
  if (isWrongKey(refused)) {
    return make("provider_auth", `${provider} refused the key (${status}: ${detail}): check ${keyVariable}`);
  }
  if (status === 429 || isOverQuota(refused)) return toLimitError(refused, { provider, detail, isRetryable }, now());
  switch (status) {
    case 404:
      return make(
        "model_not_found",
        `${baseUrl} has no model "${model}" (404: ${detail}): choose another with --model, or in rookery.toml`,
      );
    case 408:
    case 409:
    case 425:
      return retryable("provider_failed", `${provider} failed (${status}: ${detail}): try again later`);
    case 529:
      return retryable("provider_overloaded", `${provider} is overloaded (529: ${detail}): try again later`);
    default:
      return status >= 500
        ? retryable("provider_failed", `${provider} failed (${status}: ${detail}): try again later`)
        : make("provider_refused", `${provider} refused the request (${status}: ${detail})`);
  }
}

/** Tells a rate limit, which ends soon, from a usage limit, which ends at a time that may be known. */
function toLimitError(
  refused: FailedResponse,
  {
    provider,
    detail,
    isRetryable,
  }: { readonly provider: string; readonly detail: string; readonly isRetryable: boolean },
  now: number,
): ProviderError {
  const { status, cause } = refused;
  const afterMs = findRetryDelay(refused, now);
  const reset = findLimitReset(refused, now);
  if (reset !== undefined || isDailyQuota(refused) || isOverQuota(refused) || (afterMs ?? 0) > MAX_RETRY_WAIT_MS) {
    const at = reset ?? (afterMs !== undefined && !isOverQuota(refused) ? now + afterMs : undefined);
    const resetsAt = at === undefined ? undefined : new Date(at).toISOString();
    const until = resetsAt === undefined ? "check your plan and its remaining quota" : `wait until ${resetsAt}`;
    const message = `the usage limit of this ${provider} account is reached (${status}: ${detail}): ${until}, then try again`;
    return new ProviderError("usage_limited", message, { cause, limit: { resetsAt } });
  }
  const when = afterMs === undefined ? "wait a while" : `wait ${Math.ceil(afterMs / 1000)} s`;
  return new ProviderError(
    "provider_rate_limited",
    `${provider} is limiting the request rate (${status}: ${detail}): ${when}, then try again`,
    { cause, ...(isRetryable && { retry: { afterMs } }) },
  );
}

/** Reads an error response, or an error event in the middle of a stream. */
function readErrorResponse(error: unknown): ProviderResponse {
  if (APICallError.isInstance(error)) {
    const { statusCode: status, responseHeaders: headers = {}, responseBody, data, message } = error;
    return { status, headers, body: parseJsonBody(responseBody) ?? data, message };
  }
  if (typeof error !== "object" || error === null)
    return { status: undefined, headers: {}, body: undefined, message: "" };
  const own = error as { readonly statusCode?: unknown; readonly code?: unknown };
  const numeric = [own.statusCode, own.code].find((value) => typeof value === "number" && value >= 400);
  const status = error instanceof Error ? undefined : ((numeric as number | undefined) ?? streamErrorStatus(error));
  return { status, headers: {}, body: { error }, message: readErrorMessage(error) };
}

function parseJsonBody(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a proxy's page, or no body
  }
}

/** Finds the code of a failed connection, which Node hides several causes deep. */
export function findNetworkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as NodeJS.ErrnoException).code;
    if (
      code !== undefined &&
      /^(E[A-Z_]+|UND_ERR_CONNECT\w*|UND_ERR_HEADERS\w*|CERT_\w+|DEPTH_\w+|SELF_SIGNED\w+|UNABLE_TO\w+)$/.test(code)
    )
      return code;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) return findNetworkCode(at.errors[0]);
  }
  return undefined;
}

/** Finds an error of our own, even if the SDK wrapped it. */
function findRookeryError(error: unknown): RookeryError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof RookeryError) return at;
  }
  return undefined;
}

/** The SDK wraps every broken stream in a generic error. Its cause says what happened. */
function unwrapCause(error: unknown): unknown {
  return APICallError.isInstance(error) && error.cause !== undefined ? error.cause : error;
}

function readErrorMessage(error: unknown): string {
  const inner = typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return typeof inner === "string" ? inner : messageOf(error);
}

function firstLine(text: string): string {
  return trimEndOf((text.split("\n", 1)[0] ?? "").slice(0, 300).toWellFormed(), ".: \t\r\n");
}
