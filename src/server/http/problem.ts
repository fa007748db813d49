/** Errors as they leave the door: problem+json, with the code that a caller acts on. */
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
  /** Where in the input: `body.budget.usd`. */
  readonly at?: string | undefined;
  /** The last position there is, where a later one was asked for. */
  readonly head?: number | undefined;
  readonly requestId?: string | undefined;
}

export type Why = keyof typeof REFUSED;

/** The door itself refuses. */
export class Refusal extends Error {
  readonly why: Why;
  readonly more: Pick<Problem, "at" | "head">;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    why: Why,
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

export function tooManyConnections(): Refusal {
  const fix = "close streams that are no longer read, then try again";
  return new Refusal("too_many_connections", `all connections that the server has room for are in use: ${fix}`);
}

/** Of what nobody foresaw, only that it happened is told: the rest is in the server's log. */
export function problemOf(error: unknown, requestId?: string): Problem {
  if (error instanceof Refusal) {
    const { status, code } = REFUSED[error.why];
    return problem(status, code, error.message, { ...error.more, requestId });
  }
  if (isRookeryError(error)) return problem(STATUS[error.code], error.code, error.message, { requestId });
  const detail = "something unexpected went wrong: the server's log has it under this request's id";
  return problem(500, "internal", detail, { requestId });
}

/** For the log, where it is not the caller's doing. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof Refusal) return undefined;
  if (isRookeryError(error)) return STATUS[error.code] < 500 ? undefined : `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}

function problem(status: number, code: ErrorCode, detail: string, more: Partial<Problem>): Problem {
  const known = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
  return { type: `urn:rookery:error:${code}`, title: STATUS_CODES[status] ?? "Error", status, detail, code, ...known };
}
