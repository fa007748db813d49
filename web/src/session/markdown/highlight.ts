/** Colors code blocks. highlight.js is loaded when the first block with a language is shown. */
import type { HighlightTree } from "./highlighter.ts";

type Highlighter = typeof import("./highlighter.ts");

/** Longer code is not colored, because it would block the screen. */
const MAX_LENGTH = 16 * 1024;
const MAX_DEPTH = 20;
let highlighter: Highlighter | undefined;
let loading: Promise<Highlighter> | undefined;

/** Puts the code into the element, and colors it as soon as highlight.js is loaded. */
export function highlightInto(node: HTMLElement, code: string, language: string): void {
  node.textContent = code;
  if (language === "" || code.length > MAX_LENGTH) return;
  if (highlighter !== undefined) return color(highlighter);
  loading ??= import("./highlighter.ts");
  loading.then(
    (loaded) => {
      highlighter = loaded;
      if (node.isConnected) color(loaded);
    },
    () => {
      loading = undefined; // the code stays without colors
    },
  );

  function color({ parseCode }: Highlighter): void {
    const tree = parseCode(code, language.toLowerCase());
    if (tree !== undefined) node.replaceChildren(...toNodes(tree, 0));
  }
}

function toNodes(tree: HighlightTree, depth: number): Node[] {
  return tree.children.map((child) => {
    if (typeof child === "string") return document.createTextNode(child);
    const span = document.createElement("span");
    if (child.scope !== undefined) span.className = `hl-${child.scope.split(".", 1)[0] ?? ""}`;
    if (depth < MAX_DEPTH) span.append(...toNodes(child, depth + 1));
    return span;
  });
}
