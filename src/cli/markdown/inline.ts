/** Renders the inline parts of Markdown as styled text. */
import type { MarkedToken, Token, Tokens } from "marked";
import type { Paint } from "../paint.ts";

export function renderInline(tokens: readonly Token[], paint: Paint): string {
  return tokens.map((token) => renderPart(token, paint)).join("");
}

function renderPart(part: Token, paint: Paint): string {
  const token = part as MarkedToken;
  switch (token.type) {
    case "strong":
      return paint("bold", renderInline(token.tokens, paint));
    case "em":
      return paint("italic", renderInline(token.tokens, paint));
    case "del":
      return paint("strike", renderInline(token.tokens, paint));
    case "codespan":
      return paint("cyan", token.text);
    case "br":
      return "\n";
    case "link":
      return renderLink(renderInline(token.tokens, paint), token, paint);
    case "image":
      return renderLink(`[image: ${token.text}]`, token, paint);
    case "text":
      return "tokens" in token && token.tokens !== undefined
        ? renderInline(token.tokens, paint)
        : decodeEntities(token.text);
    case "escape":
      return token.text;
    default:
      return part.raw;
  }
}

/** Always shows the address, because the text of a link may name another one. */
function renderLink(text: string, { href, raw }: Tokens.Link | Tokens.Image, paint: Paint): string {
  const isBare = raw === href || raw === `<${href}>` || href === `mailto:${raw}`;
  return isBare ? paint("underline", text) : `${paint("underline", text)} ${paint("dim", `(${href})`)}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
};

function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
