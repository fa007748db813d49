/**
 * Spans, and how their ids follow from the log. Each process derives the same ids from the same log, so a turn or task
 * that continues in another process continues its trace.
 */
import { createHash } from "node:crypto";

/** A value that is not plain text, such as messages, is exported as a structure. */
export type AttributeValue = string | number | boolean | readonly unknown[] | { readonly [key: string]: unknown };
export type SpanAttributes = Readonly<Record<string, AttributeValue | undefined>>;

/** An operation that has ended. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly operation: SpanOperation;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: SpanAttributes;
  /** Set if the operation failed. */
  readonly error?: { readonly type: string; readonly message?: string | undefined } | undefined;
}

export type SpanOperation = "invoke_workflow" | "stage" | "merge" | "invoke_agent" | "chat" | "execute_tool";

/** The trace of a task with all its sessions, or of a session that belongs to none. */
export function traceIdOf(rootId: string): string {
  return digest("trace", rootId).slice(0, 32);
}

export function spanIdOf(...parts: readonly (string | number)[]): string {
  return digest("span", ...parts).slice(0, 16);
}

function digest(...parts: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
