/** Replaces lone surrogates, which providers reject: one bad string would make a conversation unusable. */

/** Returns the same JSON with well-formed strings, and copies only what changes. Byte arrays are unchanged. */
export function wellFormed<T>(value: T): T {
  return replaceLoneSurrogates(value) as T;
}

function replaceLoneSurrogates(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(replaceLoneSurrogates);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([key, inner]) => {
    const entry = [key.toWellFormed(), replaceLoneSurrogates(inner)] as const;
    isChanged ||= entry[0] !== key || entry[1] !== inner;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
