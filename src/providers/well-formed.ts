/** Text without halves of characters, which providers refuse: one odd string would end a conversation for good. */

/** The same JSON with every string well formed; bytes in it are left alone. Copies only what it has to change. */
export function wellFormed<T>(value: T): T {
  return repaired(value) as T;
}

function repaired(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(repaired);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([key, inner]) => {
    const entry = [key.toWellFormed(), repaired(inner)] as const;
    isChanged ||= entry[0] !== key || entry[1] !== inner;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
