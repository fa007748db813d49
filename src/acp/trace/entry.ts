/** One line of a trace, read back. */
import { z } from "zod";

const entrySchema = z.object({
  at: z.string(),
  direction: z.enum(["in", "out"]).optional(),
  message: z.unknown().optional(),
  line: z.string().optional(),
  dropped: z.number().optional(),
});

export type Direction = "in" | "out";

export interface MessageEntry {
  readonly kind: "message";
  readonly at: number;
  readonly direction: Direction;
  /** The method that carried it, where it was sent through a proxy. */
  readonly via: string | undefined;
  readonly id: unknown;
  /** Undefined in an answer. */
  readonly method: string | undefined;
  readonly params: unknown;
  readonly result: unknown;
  readonly error: unknown;
  readonly message: unknown;
}

export type TraceEntry =
  | MessageEntry
  | { readonly kind: "noise"; readonly at: number; readonly direction: Direction; readonly line: string }
  | { readonly kind: "dropped"; readonly at: number; readonly count: number };

/** Undefined where the line is no entry: a trace may be cut off, or edited. */
export function readEntry(text: string): TraceEntry | undefined {
  const parsed = entrySchema.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { direction, message, line, dropped } = parsed.data;
  const at = Date.parse(parsed.data.at);
  if (Number.isNaN(at)) return undefined;
  if (dropped !== undefined) return { kind: "dropped", at, count: dropped };
  if (direction === undefined) return undefined;
  if (line !== undefined) return { kind: "noise", at, direction, line };
  return message === undefined ? undefined : messageEntry(at, direction, message);
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function messageEntry(at: number, direction: Direction, message: unknown): MessageEntry {
  const { id, params, result, error, ...more } = objectOf(message);
  const method = textOf(more["method"]);
  const inner = method === "proxy/successor" || method === "_proxy/successor" ? objectOf(params) : {};
  const carried = textOf(inner["method"]);
  const call =
    carried === undefined
      ? { via: undefined, method, params }
      : { via: method, method: carried, params: inner["params"] };
  return { kind: "message", at, direction, id, result, error, message, ...call };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
