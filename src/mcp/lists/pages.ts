/** Follows the pages of a list as far as is taken, whatever the server does with its cursors. */
import type { Link } from "../link.ts";

export interface Listed {
  /** As the server sent them. */
  readonly items: readonly unknown[];
  /** Why that is not all. */
  readonly cut?: string | undefined;
}

const MAX_PAGES = 1_000;

export async function allPages(
  link: Link,
  { method, key, max, signal }: { method: string; key: string; max: number; signal: AbortSignal },
): Promise<Listed> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  for (let cursor: string | undefined, pages = 0; ; pages += 1) {
    const page = await link.request(method, cursor === undefined ? {} : { cursor }, { signal });
    const found = page[key];
    if (Array.isArray(found)) items.push(...(found as unknown[]).slice(0, max + 1 - items.length));
    if (items.length > max)
      return { items: items.slice(0, max), cut: `it lists more than ${max} ${key}; the rest is left out` };
    const next = page["nextCursor"];
    if (typeof next !== "string" || next === "") return { items };
    if (seen.has(next)) return { items, cut: `its list of ${key} goes round in circles; what came so far is taken` };
    if (pages >= MAX_PAGES)
      return { items, cut: `its list of ${key} has more than ${MAX_PAGES} pages; the rest is left out` };
    seen.add(next);
    cursor = next;
  }
}
