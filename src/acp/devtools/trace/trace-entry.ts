/** Parses one line of a trace. */
import { z } from "zod";

const entrySchema = z.object({
  at: z.string(),
  direction: z.enum(["in", "out"]).optional(),
  message: z.unknown().optional(),
  line: z.string().optional(),
  dropped: z.number().optional(),
});

export type TraceDirection = "in" | "out";

export interface MessageEntry {
  readonly kind: "message";
  readonly at: number;
  readonly direction: TraceDirection;
  /** The enveloping method, if the message was sent through a proxy. */
  readonly via: string | undefined;
  readonly id: unknown;
  /** Undefined for a response. */
  readonly method: string | undefined;
  readonly params: unknown;
  readonly result: unknown;
  readonly error: unknown;
  readonly message: unknown;
}

export type TraceEntry =
  | MessageEntry
  | { readonly kind: "noise"; readonly at: number; readonly direction: TraceDirection; readonly line: string }
  | { readonly kind: "dropped"; readonly at: number; readonly count: number };

/** Undefined if the line is not a trace entry, for example in a truncated or edited trace. */
export function parseTraceEntry(text: string): TraceEntry | undefined {
  const parsed = entrySchema.safeParse(parseJsonOrUndefined(text));
  if (!parsed.success) return undefined;
  const { direction, message, line, dropped } = parsed.data;
  const at = Date.parse(parsed.data.at);
  if (Number.isNaN(at)) return undefined;
  if (dropped !== undefined) return { kind: "dropped", at, count: dropped };
  if (direction === undefined) return undefined;
  if (line !== undefined) return { kind: "noise", at, direction, line };
  return message === undefined ? undefined : toMessageEntry(at, direction, message);
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toMessageEntry(at: number, direction: TraceDirection, message: unknown): MessageEntry {
  const { id, params, result, error, ...more } = asObject(message);
  const method = asString(more["method"]);
  const inner = method === "proxy/successor" || method === "_proxy/successor" ? asObject(params) : {};
  const carried = asString(inner["method"]);
  const call =
    carried === undefined
      ? { via: undefined, method, params }
      : { via: method, method: carried, params: inner["params"] };
  return { kind: "message", at, direction, id, result, error, message, ...call };
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
