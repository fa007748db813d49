/** JSON-RPC for the agent: error codes of ACP v1 and checks of message shapes. */

export type JsonObject = Readonly<Record<string, unknown>>;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The answer to a request. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError };

export const RPC_ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

/** Thrown by a handler to answer a request with an error. */
export class RpcFailure extends Error {
  readonly error: RpcError;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.error = { code, message, ...(data !== undefined && { data }) };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function toObject(value: unknown, otherwise: JsonObject = {}): JsonObject {
  return isObject(value) ? value : otherwise;
}

/** Returns a string parameter. Throws invalid params if it is not a string. */
export function requireString(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw new RpcFailure(RPC_ERROR.invalidParams, `${name} must be a string`);
  return value;
}

/** Merges objects recursively and replaces everything else. */
export function mergeDeep(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = key in base ? mergeDeep(base[key], value) : value;
  return merged;
}
