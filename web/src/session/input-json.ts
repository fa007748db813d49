/** Formats the input of a tool call for people. */

/** A call with one text, such as a command, shows this text. */
export function formatInputJson(input: unknown): string {
  if (input === undefined || input === null) return "";
  if (typeof input === "string") return input;
  if (typeof input === "object") {
    const entries = Object.entries(input);
    if (entries.length === 0) return "";
    if (entries.every(([, value]) => ["string", "number", "boolean"].includes(typeof value))) {
      return entries.map(([key, value]) => `${key}: ${String(value)}`).join("\n");
    }
  }
  return JSON.stringify(input, null, 2) ?? "";
}
