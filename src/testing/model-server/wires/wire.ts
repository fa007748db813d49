/** The interface of a wire format: it recognizes and parses requests, and formats answers. */

import type { IncomingHttpHeaders } from "node:http";
import type { ModelAnswer } from "../answer.ts";
import type { UnpairedCalls } from "../history.ts";
import type { ModelConversation, ModelRequest } from "../request.ts";
import type { WireName } from "./wire-name.ts";
import type { RefusalReason } from "../faults.ts";

export interface Wire {
  readonly name: WireName;
  /** Returns what a POST to this path requests, or undefined if the path belongs to another wire. The path has no version. */
  route(path: string, query: URLSearchParams): WireRoute | undefined;
  /** Throws a ZodError for a body that the real API rejects. */
  read(body: unknown, route: WireRoute): ModelConversation;
  /** Returns the error message for tool calls without results, or undefined if the API accepts the conversation. */
  refusal(unpaired: UnpairedCalls): string | undefined;
  key(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined;
  /** Returns the events of a streamed answer. Each is sent in one write. */
  stream(answer: ModelAnswer, exchange: ModelExchange): string[];
  /** Returns the JSON of an answer that is not streamed. */
  whole(answer: ModelAnswer, exchange: ModelExchange): unknown;
  /** Returns the response to a token count request. */
  tokenCount(tokens: number): unknown;
  failure(failure: WireError, exchange: Pick<ModelExchange, "number">): WireFailure;
  /** Returns the error event of a stream. */
  errorEvent(sequence: number): string;
  /** The HTTP status of an overload, for an `error` fault without streaming. */
  readonly overloadStatus: number;
  headers(kind: "json" | "stream", exchange: Pick<ModelExchange, "number">): Record<string, string>;
}

export interface WireRoute {
  readonly action: "generate" | "count";
  /** Set by wires that have the model in the URL. */
  readonly model?: string;
  /** Set by wires that choose streaming in the URL. */
  readonly stream?: boolean;
  /** Gemini without `alt=sse` streams one JSON array. */
  readonly array?: boolean;
}

/** One request and the values that its answer needs. Ids derive from `number`, so they are the same on every run. */
export interface ModelExchange {
  readonly request: ModelRequest;
  readonly route: WireRoute;
  /** From 1. */
  readonly number: number;
  /** Seconds since 1970. */
  readonly created: number;
}

export interface WireError {
  readonly status: number;
  /** The reason, if the status alone does not determine the response of every wire. */
  readonly why?: "wrong_key" | "unknown_model" | RefusalReason;
  /** When a used-up quota resets, for APIs that report it. */
  readonly resetsAt?: Date;
  readonly message?: string;
  readonly model?: string;
  readonly retryAfter?: number | Date;
}

export interface WireFailure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `id("msg", 3)` is `msg_000000000003`. */
export function formatWireId(prefix: string, number: number, part?: number): string {
  return `${prefix}_${String(number).padStart(12, "0")}${part === undefined ? "" : String(part).padStart(4, "0")}`;
}
