/** Values of which nothing is known. */

export type Members = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member that is an object, or an empty one. */
export function members(value: unknown, key: string): Members {
  const member = isObject(value) ? value[key] : undefined;
  return isObject(member) ? member : {};
}
