/**
 * Renders Markdown of agents as DOM nodes. It creates only the elements below, with text nodes, and never parses HTML,
 * so nothing that an agent writes can become markup or run.
 */
import { Lexer, type Token, type Tokens } from "marked";
import { visible } from "../../format.ts";
import { decodeEntities } from "./entities.ts";
import { highlightInto } from "./highlight.ts";
import { toSafeUrl } from "./links.ts";

/** Deeper content is shown as its source. */
const MAX_DEPTH = 12;
/** The parser needs a level of the stack for each marker. */
const DEEP_MARKERS = new RegExp(`^(?:[ \\t]*(?:>|[-*+]|\\d{1,9}[.)])){${MAX_DEPTH + 1}}`, "m");

/** Only for short sources: `text-parts.ts` bounds them. */
export function renderMarkdown(source: string): Node[] {
  const shown = visible(source.replaceAll("\r\n", "\n"));
  if (DEEP_MARKERS.test(shown)) return [plainBlock(shown)];
  try {
    return renderBlocks(Lexer.lex(shown), 0);
  } catch {
    return [plainBlock(shown)]; // too much nesting for the parser's stack
  }
}

function renderBlocks(tokens: readonly Token[], depth: number): Node[] {
  return tokens.flatMap((token) => (depth > MAX_DEPTH ? [plainBlock(token.raw)] : renderBlock(token, depth)));
}

function renderBlock(token: Token, depth: number): Node[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading": {
      // The screen has h1 and h2.
      const level = Math.min(6, (token as Tokens.Heading).depth + 2);
      return [element(`h${level}`, renderInline(token, depth))];
    }
    case "code":
      return [codeBlock(token as Tokens.Code)];
    case "blockquote":
      return [element("blockquote", renderBlocks(token.tokens ?? [], depth + 1))];
    case "list":
      return [renderList(token as Tokens.List, depth)];
    case "table":
      return [renderTable(token as Tokens.Table, depth)];
    case "hr":
      return [element("hr")];
    case "html":
      return [plainBlock(token.raw)];
    case "text": // the content of a tight list item
      return renderInline(token, depth);
    case "checkbox":
      return [checkbox((token as { checked?: boolean }).checked === true)];
    default:
      return [element("p", renderInline(token, depth))];
  }
}

function renderList(list: Tokens.List, depth: number): Node {
  const items = list.items.map((item) => {
    const hasBox = item.task && !item.tokens.some(({ type }) => type === "checkbox");
    const content = renderBlocks(item.tokens, depth + 1);
    return element("li", hasBox ? [checkbox(item.checked === true), ...content] : content);
  });
  const node = element(list.ordered ? "ol" : "ul", items);
  if (node instanceof HTMLOListElement && typeof list.start === "number") node.start = list.start;
  return node;
}

function renderTable(table: Tokens.Table, depth: number): Node {
  const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): Node =>
    element(
      "tr",
      cells.map((cell) => {
        const node = element(tag, renderInlineTokens(cell.tokens, depth));
        if (cell.align === "right" || cell.align === "center") node.className = cell.align;
        if (node instanceof HTMLTableCellElement && tag === "th") node.scope = "col";
        return node;
      }),
    );
  const body = table.rows.map((cells) => row(cells, "td"));
  const wide = element("div", [
    element("table", [element("thead", [row(table.header, "th")]), element("tbody", body)]),
  ]);
  return makeScrollable(wide, "Table");
}

function renderInline(token: Token, depth: number): Node[] {
  const { tokens, text, raw } = token as { tokens?: Token[]; text?: string; raw: string };
  return tokens === undefined ? [textNode(text ?? raw)] : renderInlineTokens(tokens, depth + 1);
}

function renderInlineTokens(tokens: readonly Token[], depth: number): Node[] {
  return tokens.flatMap((token) => (depth > MAX_DEPTH ? [textNode(token.raw)] : renderInlineToken(token, depth)));
}

function renderInlineToken(token: Token, depth: number): Node[] {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return [element(token.type, renderInline(token, depth))];
    case "codespan":
      return [element("code", [document.createTextNode((token as Tokens.Codespan).text)])];
    case "br":
      return [element("br")];
    case "escape":
      return [document.createTextNode((token as Tokens.Escape).text)];
    case "html":
      return [document.createTextNode(token.raw)];
    case "link":
      return [renderLink(token as Tokens.Link, renderInline(token, depth))];
    case "image": {
      // Loading an image would tell its server who reads this.
      const { text, href } = token as Tokens.Image;
      return [renderLink({ href }, [textNode(`image: ${text === "" ? href : text}`)])];
    }
    case "checkbox":
      return [checkbox((token as { checked?: boolean }).checked === true)];
    default:
      return renderInline(token, depth);
  }
}

function renderLink({ href }: Pick<Tokens.Link, "href">, content: Node[]): Node {
  const url = toSafeUrl(decodeEntities(href));
  if (url === undefined) return element("span", [...content, document.createTextNode(` (${href})`)]);
  const link = element("a", content) as HTMLAnchorElement;
  link.href = url;
  link.rel = "noopener noreferrer nofollow";
  link.target = "_blank";
  link.title = url;
  return link;
}

function codeBlock({ text, lang = "" }: Tokens.Code): Node {
  const code = element("code");
  const block = makeScrollable(element("pre", [code]), "Code");
  const [language = ""] = lang.split(/\s/, 1);
  highlightInto(code, text, language);
  return block;
}

function plainBlock(text: string): Node {
  return element("p", [document.createTextNode(text)], "plain-source");
}

/** Keyboards can scroll only elements with the focus. */
function makeScrollable(node: HTMLElement, label: string): HTMLElement {
  node.classList.add("wide");
  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", label);
  return node;
}

function checkbox(isChecked: boolean): Node {
  return document.createTextNode(isChecked ? "☑ " : "☐ ");
}

function textNode(text: string): Node {
  return document.createTextNode(decodeEntities(text));
}

function element(tag: string, children: readonly Node[] = [], className = ""): HTMLElement {
  const node = document.createElement(tag);
  if (className !== "") node.className = className;
  node.append(...children);
  return node;
}
