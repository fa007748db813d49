/** What went wrong with a provider, in words that say what to do. */
import { APICallError, RetryError } from "ai";
import { RookeryError, messageOf, type ErrorCode } from "../domain/index.ts";

export interface Endpoint {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly keyVariable: string;
  readonly urlVariable: string;
}

export function providerError(error: unknown, endpoint: Endpoint): RookeryError {
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  if (cause instanceof RookeryError) return cause;
  const status = APICallError.isInstance(cause) ? cause.statusCode : undefined;
  if (status !== undefined && status >= 400) return refusal(cause as APICallError, status, endpoint);
  const unanswered = APICallError.isInstance(cause) && status === undefined;
  const network = networkCode(cause) ?? (unanswered ? firstLine(cause.message) : undefined);
  if (network !== undefined) {
    const { baseUrl, urlVariable } = endpoint;
    return new RookeryError(
      "provider_unreachable",
      `cannot reach ${baseUrl} (${network}): check the network, and ${urlVariable} if you set it`,
      { cause },
    );
  }
  const type = streamErrorType(cause);
  const code: ErrorCode = type === "overloaded_error" ? "provider_overloaded" : "provider_failed";
  return new RookeryError(
    code,
    `${endpoint.provider} broke off its answer (${firstLine(textOf(rootOf(cause)))}): try again`,
    {
      cause,
    },
  );
}

function refusal(error: APICallError, status: number, endpoint: Endpoint): RookeryError {
  const { provider, model, baseUrl, keyVariable } = endpoint;
  const said = firstLine(error.message);
  const make = (code: ErrorCode, message: string) => new RookeryError(code, message, { cause: error });
  switch (status) {
    case 401:
    case 403:
      return make("provider_auth", `${provider} refused the key (${status}: ${said}): check ${keyVariable}`);
    case 404:
      return make(
        "model_not_found",
        `${baseUrl} has no model "${model}" (404: ${said}): choose another with --model, or in rookery.toml`,
      );
    case 429: {
      const after = error.responseHeaders?.["retry-after"];
      const when =
        after === undefined ? "wait a while" : `wait ${/^\d+$/.test(after) ? `${after} s` : `until ${after}`}`;
      return make("provider_rate_limited", `${provider} limits the rate (429: ${said}): ${when}, then try again`);
    }
    case 529:
      return make("provider_overloaded", `${provider} is overloaded (529: ${said}): try again later`);
    default:
      return status >= 500
        ? make("provider_failed", `${provider} failed (${status}: ${said}): try again later`)
        : make("provider_refused", `${provider} refused the request (${status}: ${said})`);
  }
}

/** Node hides the code of a failed connection some causes deep. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as NodeJS.ErrnoException).code;
    if (code !== undefined && /^(E[A-Z_]+|UND_ERR_CONNECT\w*|UND_ERR_HEADERS\w*|CERT_\w+|DEPTH_\w+)$/.test(code))
      return code;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) return networkCode(at.errors[0]);
  }
  return undefined;
}

/** The SDK calls every broken stream a response that it failed to process; what broke it is said further down. */
function rootOf(error: unknown): unknown {
  return APICallError.isInstance(error) && error.cause !== undefined ? error.cause : error;
}

function streamErrorType(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "type" in error ? String(error.type) : undefined;
}

function textOf(error: unknown): string {
  const inner = typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return typeof inner === "string" ? inner : messageOf(error);
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "")
    .slice(0, 300)
    .toWellFormed()
    .replace(/[.:\s]+$/, "");
}
