/** highlight.js with the languages of the terminal's code blocks. In its own chunk. */
import hljs from "../../../../src/cli/markdown/highlight-languages.mjs";

export interface HighlightTree {
  readonly scope?: string | undefined;
  readonly children: readonly (string | HighlightTree)[];
}

/** Returns undefined for an unknown language. */
export function parseCode(code: string, language: string): HighlightTree | undefined {
  if (hljs.getLanguage(language) === undefined) return undefined;
  // The tree instead of the HTML: the page never parses HTML.
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as {
    readonly _emitter: { readonly rootNode: HighlightTree };
  };
  return _emitter.rootNode;
}
