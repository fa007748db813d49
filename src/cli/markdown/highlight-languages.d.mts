/** The part of highlight.js that `highlight.ts` uses. */
interface HighlightLanguages {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { readonly value: string };
}

declare const hljs: HighlightLanguages;
export default hljs;
