/** A route as a row of a table: what it takes, what it answers, and what is done. The document is made from the same rows. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { ErrorCode, MadeEvent } from "../../domain/index.ts";
import type { Door } from "./door.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Shape = Readonly<Record<string, z.ZodType>>;
type Read<S extends Shape> = { readonly [Key in keyof S]: z.infer<S[Key]> };

export interface Call<P extends Shape = Shape, Q extends Shape = Shape, B = unknown> {
  readonly door: Door;
  readonly params: Read<P>;
  readonly query: Partial<Read<Q>>;
  readonly body: B;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** `sent`: the handler wrote it itself. */
export type Answer =
  { readonly status?: number; readonly json: unknown } | { readonly text: string; readonly type: string } | "sent";

export interface RouteSpec<P extends Shape, Q extends Shape, B> {
  readonly method: Method;
  /** With `:name` for parameters. */
  readonly path: string;
  /** What the client calls it. */
  readonly id: string;
  readonly summary: string;
  readonly tag: "server" | "sessions" | "tasks" | "events";
  readonly params?: P;
  readonly query?: Q;
  readonly body?: z.ZodType<B>;
  /** In bytes; MAX_BODY if not said. */
  readonly maxBody?: number;
  readonly answers: Readonly<Record<number, Described>>;
  /** Beside those that every route has. */
  readonly errors: readonly ErrorCode[];
  /** Also sent as a stream, where the caller accepts one: what its data are. */
  readonly stream?: z.ZodType;
  /** No token is needed. */
  readonly open?: boolean;
  /** May take longer than a caller waits: it is told so then, and asks once more with the same Idempotency-Key. */
  readonly slow?: boolean;
  /** What it makes: with an Idempotency-Key it is made once, also if the server is killed before it responds. */
  readonly made?: Made<P, Q, B>;
  handle(call: Call<P, Q, B>): Promise<Answer>;
}

export interface Made<P extends Shape, Q extends Shape, B> {
  /** Whether the event, appended to this session or task, is what the call makes. */
  isEvent(event: { readonly type: string }, logId: string, call: Call<P, Q, B>): boolean;
  /** The response to a call that made this event earlier. */
  recall(event: MadeEvent, call: Call<P, Q, B>): Promise<Answer>;
}

export interface Described {
  readonly description: string;
  /** Left out where it is not JSON. */
  readonly schema?: z.ZodType;
  readonly type?: string;
}

export type Route = RouteSpec<Shape, Shape, unknown>;

/** Checks the handler against what the row says it takes, and forgets it: a table has rows of one type. */
export function route<P extends Shape = Shape, Q extends Shape = Shape, B = undefined>(
  spec: RouteSpec<P, Q, B>,
): Route {
  return spec;
}

export function json(value: unknown, status = 200): Answer {
  return { status, json: value };
}

/** A whole number in a query; what the document says of it is beside it. */
export function wholeNumber(description: string): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, "expected a whole number")
    .transform(Number)
    .meta({ type: "integer", minimum: 0, description });
}

export function flag(description: string): z.ZodType<boolean> {
  return z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .meta({ type: "boolean", description });
}

export function text(description: string): z.ZodType<string> {
  return z.string().min(1).max(4_096).meta({ description });
}
