/** The port that every wire format implements: how a request is recognised and read, and how an answer is written. */

import type { IncomingHttpHeaders } from "node:http";
import type { ModelAnswer } from "../answer.ts";
import type { UnpairedCalls } from "../history.ts";
import type { ModelConversation, ModelRequest } from "../request.ts";
import type { WireName } from "./wire-name.ts";
import type { RefusalReason } from "../faults.ts";

export interface Wire {
  readonly name: WireName;
  /** What a POST to this path asks for; undefined when the path is not of this wire. The path comes without version. */
  route(path: string, query: URLSearchParams): WireRoute | undefined;
  /** Throws a ZodError for a body that the real API refuses. */
  read(body: unknown, route: WireRoute): ModelConversation;
  /** The words with which a conversation is refused whose tool calls and results do not pair; undefined: it is taken. */
  refusal(unpaired: UnpairedCalls): string | undefined;
  key(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined;
  /** The events of a streamed answer, each as the bytes of one write. */
  stream(answer: ModelAnswer, exchange: ModelExchange): string[];
  /** The JSON of an answer that is not streamed. */
  whole(answer: ModelAnswer, exchange: ModelExchange): unknown;
  /** What the wire answers to a count of tokens. */
  tokenCount(tokens: number): unknown;
  failure(failure: WireError, exchange: Pick<ModelExchange, "number">): WireFailure;
  /** The event with which a stream says that it failed. */
  errorEvent(sequence: number): string;
  /** The status of an overload: what a stream's error event would have been. */
  readonly overloadStatus: number;
  headers(kind: "json" | "stream", exchange: Pick<ModelExchange, "number">): Record<string, string>;
}

export interface WireRoute {
  readonly action: "generate" | "count";
  /** The wires that name the model or the streaming in the address say them here. */
  readonly model?: string;
  readonly stream?: boolean;
  /** Gemini without `alt=sse` streams one JSON array. */
  readonly array?: boolean;
}

/** One request with what its answer is made from; ids come from `number`, so that they are the same on every run. */
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
  /** Some wires answer a wrong key, or a model they do not have, in a way that the status alone does not tell. */
  readonly why?: "wrong_key" | "unknown_model" | RefusalReason;
  /** When an account that is used up may do more, where its API says that. */
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
