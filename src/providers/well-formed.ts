/** Replaces lone surrogates, which providers reject: one bad string would make a conversation unusable. */

/** Returns the same JSON with well-formed strings. Byte arrays are unchanged. */
export function wellFormed<T>(value: T): T {
  return replaceLoneSurrogates(value) as T;
}

function replaceLoneSurrogates(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(replaceLoneSurrogates);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), replaceLoneSurrogates(inner)]),
  );
}
