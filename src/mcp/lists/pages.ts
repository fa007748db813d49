/** Reads all pages of a list, up to limits, and survives servers with broken cursors. */
import type { Link } from "../link.ts";

export interface PagedList {
  /** Unvalidated items from the server. */
  readonly items: readonly unknown[];
  /** Why the list is incomplete. */
  readonly cut?: string | undefined;
}

export interface ListOptions {
  readonly method: string;
  readonly key: string;
  readonly max: number;
  /** Maximum length of all items together, in characters. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
}

const MAX_PAGES = 1_000;

export async function readAllPages(
  link: Link,
  { method, key, max, maxChars, signal }: ListOptions,
): Promise<PagedList> {
  const items: unknown[] = [];
  let chars = 0;
  const seen = new Set<string>();
  for (let cursor: string | undefined, pages = 0; ; pages += 1) {
    const page = await link.request(method, cursor === undefined ? {} : { cursor }, { signal });
    const found = page[key];
    for (const item of Array.isArray(found) ? (found as unknown[]) : []) {
      if (items.length >= max) return { items, cut: `it lists more than ${max} ${key}; the rest is ignored` };
      chars += serializedLength(item);
      if (chars > maxChars)
        return { items, cut: `its list of ${key} has more than ${maxChars} characters; the rest is ignored` };
      items.push(item);
    }
    const next = page["nextCursor"];
    if (typeof next !== "string" || next === "") return { items };
    if (seen.has(next)) return { items, cut: `its list of ${key} repeats a cursor; the rest is ignored` };
    if (pages >= MAX_PAGES)
      return { items, cut: `its list of ${key} has more than ${MAX_PAGES} pages; the rest is ignored` };
    seen.add(next);
    cursor = next;
  }
}

function serializedLength(item: unknown): number {
  try {
    return (JSON.stringify(item) ?? "").length;
  } catch {
    return 0; // nested too deeply to serialize; the reader of the item rejects it
  }
}
