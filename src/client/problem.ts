/** Converts problem responses back to errors. */
import { ERROR_CODES, RookeryError, messageOf, type ErrorCode } from "../domain/errors.ts";

/** A response without a Rookery error code, such as from a proxy, becomes `unauthorized` or `server_unreachable`. */
export function errorOf(problem: unknown, status: number): RookeryError {
  const { code, detail } = (typeof problem === "object" && problem !== null ? problem : {}) as Record<string, unknown>;
  const isOurs = typeof code === "string" && (ERROR_CODES as readonly string[]).includes(code);
  if (isOurs && typeof detail === "string") return new RookeryError(code as ErrorCode, detail);
  if (status === 401 || status === 403)
    return new RookeryError("unauthorized", `the server responded with ${status}: check the token`);
  return new RookeryError(
    "server_unreachable",
    `the response with status ${status} is not from a Rookery server: check the URL`,
  );
}

export function toUnreachableError(url: string, cause: unknown): RookeryError {
  const inner = cause instanceof Error && cause.cause !== undefined ? `: ${messageOf(cause.cause)}` : "";
  const message = `cannot reach the server at ${url} (${messageOf(cause)}${inner}): start it with rookery serve, or check the URL`;
  return new RookeryError("server_unreachable", message, { cause });
}
