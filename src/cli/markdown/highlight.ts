/** Colors code blocks with highlight.js. Loaded after the first prompt is shown, because it takes time to load. */
import hljs from "./highlight-languages.mjs";
import type { Color, Paint } from "../paint.ts";

/** Longer code is not colored, because it would block the screen. */
const MAX_HIGHLIGHT_LENGTH = 64 * 1024;
/** Code with a longer line is not colored: some grammars take quadratic time for a line. */
const LONG_LINE = /[^\n]{1001}/;

const COLORS: Readonly<Record<string, Color>> = {
  keyword: "magenta",
  built_in: "cyan",
  type: "cyan",
  literal: "yellow",
  number: "yellow",
  string: "green",
  regexp: "green",
  comment: "dim",
  doctag: "dim",
  title: "blue",
  section: "bold",
  attr: "blue",
  attribute: "blue",
  variable: "yellow",
  symbol: "yellow",
  name: "blue",
  tag: "blue",
  meta: "dim",
  addition: "green",
  deletion: "red",
};

/** Returns undefined for an unknown language. */
export function highlightCode(code: string, language: string, paint: Paint): readonly string[] | undefined {
  const name = language.toLowerCase();
  const isLong = code.length > MAX_HIGHLIGHT_LENGTH || LONG_LINE.test(code);
  if (isLong || hljs.getLanguage(name) === undefined) return undefined;
  return paintMarkup(hljs.highlight(code, { language: name, ignoreIllegals: true }).value, paint);
}

/** Converts the HTML of highlight.js, in which only spans and entities occur. A color ends with its line. */
function paintMarkup(html: string, paint: Paint): string[] {
  const colors: (Color | undefined)[] = [];
  let line = "";
  const lines: string[] = [];
  const add = (text: string): void => {
    const color = colors.findLast((one) => one !== undefined);
    line += text === "" || color === undefined ? text : paint(color, text);
  };
  for (const [part] of html.matchAll(/<[^>]*>|\n|[^<\n]+/g)) {
    if (part === "\n") {
      lines.push(line);
      line = "";
    } else if (part.startsWith("</")) colors.pop();
    else if (part.startsWith("<")) colors.push(COLORS[/hljs-(\w+)/.exec(part)?.[1] ?? ""]);
    else add(decodeHtml(part));
  }
  return [...lines, line];
}

function decodeHtml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
}
