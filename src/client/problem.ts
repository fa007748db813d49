/** Problems that a server answers, as the errors they were there. */
import { ERROR_CODES, RookeryError, messageOf, type ErrorCode } from "../domain/errors.ts";

/** What a proxy or a stranger answers has no code of ours. */
export function errorOf(problem: unknown, status: number): RookeryError {
  const { code, detail } = (typeof problem === "object" && problem !== null ? problem : {}) as Record<string, unknown>;
  const isOurs = typeof code === "string" && (ERROR_CODES as readonly string[]).includes(code);
  if (isOurs && typeof detail === "string") return new RookeryError(code as ErrorCode, detail);
  if (status === 401 || status === 403) return new RookeryError("unauthorized", `the server answered ${status}`);
  return new RookeryError("server_unreachable", `what answered is no Rookery, or it is broken: it said ${status}`);
}

export function unreachable(url: string, cause: unknown): RookeryError {
  const inner = cause instanceof Error && cause.cause !== undefined ? `: ${messageOf(cause.cause)}` : "";
  const message = `cannot reach the server at ${url} (${messageOf(cause)}${inner}): is it running? rookery serve`;
  return new RookeryError("server_unreachable", message, { cause });
}
