/** Converts HTML to readable text: words, headings, lists and links. Scans each character once. */
import { trimEndOf } from "../../../stdx/index.ts";

/** Elements whose content is not text for readers. */
const SKIPPED_ELEMENTS = new Set([
  "script",
  "style",
  "noscript",
  "svg",
  "template",
  "iframe",
  "head",
  "object",
  "canvas",
]);
const BLOCK_ELEMENTS = new Set(
  (
    "address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 " +
    "h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul"
  ).split(" "),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  copy: "©",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

export function htmlToText(html: string, base: string): string {
  const page = new TextBuilder(base);
  const unclosed = new Set<string>();
  for (let at = 0; at < html.length;) {
    const open = html.indexOf("<", at);
    page.text(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    if (html.startsWith("<!--", open)) {
      at = indexAfter(html, "-->", open + 4);
      continue;
    }
    const tag = parseTag(html, open);
    if (tag === undefined) {
      page.text("<");
      at = open + 1;
      continue;
    }
    page.tag(tag);
    at = SKIPPED_ELEMENTS.has(tag.name) && !tag.closes ? skipElement(html, tag, unclosed) : tag.end;
  }
  return page.done();
}

interface Tag {
  readonly name: string;
  readonly closes: boolean;
  readonly attributes: string;
  readonly end: number;
}

function parseTag(html: string, open: number): Tag | undefined {
  const name = /^<(\/?)([a-z!?][a-z0-9-]*)/i.exec(html.slice(open, open + 64));
  if (name === null) return undefined;
  const close = html.indexOf(">", open);
  const end = close === -1 ? html.length : close + 1;
  const attributes = html.slice(open + name[0].length, Math.min(end, open + 4_096));
  return { name: (name[2] ?? "").toLowerCase(), closes: name[1] === "/", attributes, end };
}

/**
 * Returns the position after the content of a skipped element. An unclosed element is not skipped, because that would
 * drop the rest of the page, except for scripts and styles. `unclosed` collects names without a closing tag, so that
 * each is searched for only once.
 */
function skipElement(html: string, { name, end }: Tag, unclosed: Set<string>): number {
  if (unclosed.has(name)) return end;
  const closing = new RegExp(`</${name}\\b`, "gi");
  closing.lastIndex = end;
  const found = closing.exec(html);
  if (found !== null) return found.index;
  unclosed.add(name);
  return name === "script" || name === "style" ? html.length : end;
}

function indexAfter(html: string, sign: string, from: number): number {
  const found = html.indexOf(sign, from);
  return found === -1 ? html.length : found + sign.length;
}

class TextBuilder {
  readonly #base: string;
  readonly #output: string[] = [];
  readonly #links: string[] = [];
  #preDepth = 0;

  constructor(base: string) {
    this.#base = base;
  }

  text(raw: string): void {
    if (raw === "") return;
    const text = decodeEntities(raw);
    this.#output.push(this.#preDepth > 0 ? text : text.replaceAll(/\s+/g, " "));
  }

  tag({ name, closes, attributes }: Tag): void {
    if (name === "pre") this.#preDepth = Math.max(0, this.#preDepth + (closes ? -1 : 1));
    if (name === "a") return this.#link(closes, attributes);
    if (BLOCK_ELEMENTS.has(name)) this.#output.push("\n");
    if (name === "p" || /^h[1-6]$/.test(name)) this.#output.push("\n");
    if (closes) return;
    if (/^h[1-6]$/.test(name)) this.#output.push(`${"#".repeat(Number(name[1]))} `);
    if (name === "li") this.#output.push("- ");
    if (name === "td" || name === "th") this.#output.push(" | ");
  }

  done(): string {
    const lines = this.#output.join("").split("\n");
    return lines
      .map((line) => trimEndOf(line, " \t"))
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
  }

  #link(closes: boolean, attributes: string): void {
    if (!closes) {
      const [, quoted, single, bare] = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(attributes) ?? [];
      this.#links.push(decodeEntities(quoted ?? single ?? bare ?? ""));
      return;
    }
    const href = this.#links.pop() ?? "";
    if (href === "" || href.startsWith("#") || !URL.canParse(href, this.#base)) return;
    const { href: whole, protocol } = new URL(href, this.#base);
    if (protocol === "http:" || protocol === "https:") this.#output.push(` (${whole})`);
  }
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (all, decimal, hex, name) => {
    if (typeof name === "string") return ENTITIES[name.toLowerCase()] ?? all;
    const point = typeof decimal === "string" ? Number.parseInt(decimal, 10) : Number.parseInt(String(hex), 16);
    return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000) ? String.fromCodePoint(point) : all;
  });
}
