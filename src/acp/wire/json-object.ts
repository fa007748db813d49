/** Type guards for JSON values that a peer sent. */

export type JsonMembers = Readonly<Record<string, unknown>>;

/** True for an object, false for an array, null or a scalar. */
export function isJsonObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the member if it is an object, otherwise an empty object. */
export function getObjectMember(value: unknown, key: string): JsonMembers {
  const member = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}
