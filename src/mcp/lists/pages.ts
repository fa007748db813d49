/** Follows the pages of a list as far as is taken, whatever the server does with its cursors. */
import type { Link } from "../link.ts";

export interface Listed {
  /** As the server sent them. */
  readonly items: readonly unknown[];
  /** Why that is not all. */
  readonly cut?: string | undefined;
}

export interface ListOptions {
  readonly method: string;
  readonly key: string;
  readonly max: number;
  /** Of all items together. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
}

const MAX_PAGES = 1_000;

export async function allPages(link: Link, { method, key, max, maxChars, signal }: ListOptions): Promise<Listed> {
  const items: unknown[] = [];
  let chars = 0;
  const seen = new Set<string>();
  for (let cursor: string | undefined, pages = 0; ; pages += 1) {
    const page = await link.request(method, cursor === undefined ? {} : { cursor }, { signal });
    const found = page[key];
    for (const item of Array.isArray(found) ? (found as unknown[]) : []) {
      if (items.length >= max) return { items, cut: `it lists more than ${max} ${key}; the rest is left out` };
      chars += sizeOf(item);
      if (chars > maxChars)
        return { items, cut: `its list of ${key} has more than ${maxChars} characters; the rest is left out` };
      items.push(item);
    }
    const next = page["nextCursor"];
    if (typeof next !== "string" || next === "") return { items };
    if (seen.has(next)) return { items, cut: `its list of ${key} goes round in circles; what came so far is taken` };
    if (pages >= MAX_PAGES)
      return { items, cut: `its list of ${key} has more than ${MAX_PAGES} pages; the rest is left out` };
    seen.add(next);
    cursor = next;
  }
}

function sizeOf(item: unknown): number {
  try {
    return (JSON.stringify(item) ?? "").length;
  } catch {
    return 0; // nested too deeply to be written; whoever reads it leaves it out
  }
}
