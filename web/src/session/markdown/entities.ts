/** Decodes the character references of HTML that people and models write in Markdown. Others stay as they are. */
import { visible } from "../../format.ts";

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
};

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === "string") return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hex), 16);
    const isValid = code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isValid ? visible(String.fromCodePoint(code)) : whole;
  });
}
