/** JSON-RPC as far as an agent needs it: the shapes of messages, and the errors of ACP v1. */

import type { JsonObject, RpcError } from "./script.ts";

export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

/** An error that is sent to whoever asked. */
export class Refusal extends Error {
  readonly error: RpcError;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.error = { code, message, ...(data !== undefined && { data }) };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOr(value: unknown, otherwise: JsonObject = {}): JsonObject {
  return isObject(value) ? value : otherwise;
}

/** A param that has to be a text. */
export function textIn(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw new Refusal(CODE.invalidParams, `${name} must be a string`);
  return value;
}

/** Objects are merged all the way down, everything else is replaced. */
export function laidOver(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = key in base ? laidOver(base[key], value) : value;
  return merged;
}
