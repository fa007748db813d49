/** Converts errors to problem+json responses, with the error code that clients act on. */
import { STATUS_CODES } from "node:http";
import { isRookeryError, messageOf, type ErrorCode } from "../../domain/index.ts";
import { REFUSED, STATUS } from "./status.ts";

export const PROBLEM_TYPE = "application/problem+json";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** The path of the invalid input, such as `body.budget.usd`. */
  readonly at?: string | undefined;
  /** The last position of the log, if the request asked for a later one. */
  readonly head?: number | undefined;
  readonly requestId?: string | undefined;
}

export type HttpRefusalReason = keyof typeof REFUSED;

/** The HTTP layer refuses a request before it reaches a handler. */
export class HttpRefusal extends Error {
  readonly why: HttpRefusalReason;
  readonly more: Pick<Problem, "at" | "head">;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    why: HttpRefusalReason,
    message: string,
    more: Pick<Problem, "at" | "head"> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.why = why;
    this.more = more;
    this.headers = headers;
  }
}

export function toTooManyConnections(): HttpRefusal {
  const fix = "close streams that you no longer read, then try again";
  return new HttpRefusal("too_many_connections", `the server is at its connection limit: ${fix}`);
}

/** Hides the message of unexpected errors, which may hold secrets. The server's log has it. */
export function toProblem(error: unknown, requestId?: string): Problem {
  if (error instanceof HttpRefusal) {
    const { status, code } = REFUSED[error.why];
    return buildProblem(status, code, error.message, { ...error.more, requestId });
  }
  if (isRookeryError(error)) return buildProblem(STATUS[error.code], error.code, error.message, { requestId });
  const detail = "an unexpected error occurred: look up this request id in the server's log";
  return buildProblem(500, "internal", detail, { requestId });
}

/** The text for the server's log. Undefined if the client caused the error. */
export function toLogReason(error: unknown): string | undefined {
  if (error instanceof HttpRefusal) return undefined;
  if (isRookeryError(error)) return STATUS[error.code] < 500 ? undefined : `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}

function buildProblem(status: number, code: ErrorCode, detail: string, more: Partial<Problem>): Problem {
  const known = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
  return { type: `urn:rookery:error:${code}`, title: STATUS_CODES[status] ?? "Error", status, detail, code, ...known };
}
