/** The type of a route: its parameters, responses and handler. The OpenAPI document uses the same data. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { ErrorCode, MadeEvent } from "../../domain/index.ts";
import type { HandlerContext } from "./handler-context.ts";
import type { RouteResponse } from "./response.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type ParamShape = Readonly<Record<string, z.ZodType>>;
type Parsed<S extends ParamShape> = { readonly [Key in keyof S]: z.infer<S[Key]> };

export interface RouteCall<P extends ParamShape = ParamShape, Q extends ParamShape = ParamShape, B = unknown> {
  readonly context: HandlerContext;
  readonly params: Parsed<P>;
  readonly query: Partial<Parsed<Q>>;
  readonly body: B;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface RouteSpec<P extends ParamShape, Q extends ParamShape, B> {
  readonly method: HttpMethod;
  /** Parameters are written as `:name`. */
  readonly path: string;
  /** The operation id in the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  readonly tag: "server" | "sessions" | "tasks" | "events";
  readonly params?: P;
  readonly query?: Q;
  readonly body?: z.ZodType<B>;
  /** In bytes. Default: `MAX_BODY`. */
  readonly maxBody?: number;
  /** Set if the body has bytes of any type, which the handler reads from `request`. Excludes `body`. */
  readonly upload?: { readonly description: string };
  /** Successful responses, by status. */
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  /** Error codes in addition to those that every route has. */
  readonly errors: readonly ErrorCode[];
  /** Schema of the events, if the route can also respond with a stream. */
  readonly stream?: z.ZodType;
  /** Whether the route works without a token. Default: false. */
  readonly open?: boolean;
  /** Whether the server responds with 202 if the work takes long. The client then repeats the request with its key. */
  readonly slow?: boolean;
  /** Makes a request with an Idempotency-Key run once, even if the server is killed before it responds. */
  readonly completion?: RouteCompletion<P, Q, B>;
  handle(call: RouteCall<P, Q, B>): Promise<RouteResponse>;
}

export interface RouteCompletion<P extends ParamShape, Q extends ParamShape, B> {
  /** Whether this event, appended to the log of this session or task, completes the call. */
  isEvent(event: { readonly type: string }, logId: string, call: RouteCall<P, Q, B>): boolean;
  /** Builds the response of a call that an earlier server completed with this event. */
  recall(event: MadeEvent, call: RouteCall<P, Q, B>): Promise<RouteResponse>;
}

export interface ResponseDescription {
  readonly description: string;
  /** Undefined if the response is not JSON. */
  readonly schema?: z.ZodType;
  readonly type?: string;
}

export type HttpRoute = RouteSpec<ParamShape, ParamShape, unknown>;

/** Checks the handler against the schemas of the route, and returns the route with its type parameters erased. */
export function route<P extends ParamShape = ParamShape, Q extends ParamShape = ParamShape, B = undefined>(
  spec: RouteSpec<P, Q, B>,
): HttpRoute {
  return spec;
}

/** A non-negative integer in a query. */
export function wholeNumberParam(description: string): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, "expected a whole number")
    .transform(Number)
    .meta({ type: "integer", minimum: 0, description });
}

export function flagParam(description: string): z.ZodType<boolean> {
  return z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .meta({ type: "boolean", description });
}

export function textParam(description: string): z.ZodType<string> {
  return z.string().min(1).max(4_096).meta({ description });
}
