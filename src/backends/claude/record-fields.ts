/** Reads fields of Claude Code's records. A field of the wrong type counts as missing. */
import type { JsonRecord } from "../../programs/index.ts";

export function recordAt(record: JsonRecord | undefined, name: string): JsonRecord | undefined {
  return asRecord(record?.[name]);
}

export function textAt(record: JsonRecord | undefined, name: string): string | undefined {
  const value = record?.[name];
  return typeof value === "string" ? value : undefined;
}

export function numberAt(record: JsonRecord | undefined, name: string): number | undefined {
  const value = record?.[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Skips entries that are not objects. */
export function recordsAt(record: JsonRecord | undefined, name: string): JsonRecord[] {
  const value = record?.[name];
  return Array.isArray(value) ? value.map(asRecord).filter((entry) => entry !== undefined) : [];
}

export function textsAt(record: JsonRecord | undefined, name: string): string[] {
  const value = record?.[name];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

export function asRecord(value: unknown): JsonRecord | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
}

/** Returns the text of a string or of a list of content blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return recordsAt({ content }, "content")
    .flatMap((block) => textAt(block, "text") ?? [])
    .join("\n");
}
