/** Renders blocks of Markdown as styled lines that fit a width. */
import type { MarkedToken, Token, Tokens } from "marked";
import { styledWidth, wrapStyled } from "../tui/styled-text.ts";
import { renderInline } from "./inline.ts";
import { renderTable } from "./table.ts";
import type { MarkdownBlock } from "./stream.ts";
import type { MarkdownStyle } from "./style.ts";

/** Blocks are separated by an empty line. */
export function renderMarkdown(blocks: readonly MarkdownBlock[], style: MarkdownStyle): string[] {
  return blocks.flatMap((block, index) => [...(index === 0 ? [] : [""]), ...renderMarkdownBlock(block, style)]);
}

export function renderMarkdownBlock(block: MarkdownBlock, style: MarkdownStyle): string[] {
  const { width, paint } = style;
  const token = block as MarkedToken;
  switch (token.type) {
    case "heading": {
      const text = renderInline(token.tokens, paint);
      if (token.depth === 1) return wrapStyled(paint("bold", paint("underline", text)), width);
      return wrapStyled(token.depth === 2 ? paint("bold", text) : paint("italic", text), width);
    }
    case "paragraph":
      return wrapStyled(renderInline(token.tokens, paint), width);
    case "text":
      return wrapStyled(token.tokens === undefined ? token.text : renderInline(token.tokens, paint), width);
    case "code":
      return renderCode(token, style);
    case "list":
      return renderList(token, style);
    case "blockquote":
      return renderMarkdown(visibleBlocks(token.tokens), { ...style, width: Math.max(1, width - 2) }).map(
        (line) => `${paint("dim", "│")} ${line}`,
      );
    case "table":
      return renderTable(token, style);
    case "hr":
      return [paint("dim", "─".repeat(Math.min(width, 40)))];
    case "html":
      return wrapStyled(token.text.trimEnd(), width);
    default:
      return wrapStyled(block.raw.trimEnd(), width);
  }
}

/** Code keeps its line breaks. A line that is too long is wrapped, so that nothing of it is lost. */
function renderCode({ text, lang = "" }: Tokens.Code, { width, paint, highlight }: MarkdownStyle): string[] {
  const language = lang.split(/\s/)[0] ?? "";
  const code = text.replaceAll("\t", "    ");
  const lines = highlight?.(code, language, paint) ?? code.split("\n").map((line) => paint("cyan", line));
  return lines.flatMap((line) => wrapStyled(line, Math.max(1, width - 2)).map((part) => `  ${part}`));
}

function renderList({ items, ordered, start }: Tokens.List, style: MarkdownStyle): string[] {
  return items.flatMap((item, index) => {
    const number = `${(typeof start === "number" ? start : 1) + index}.`;
    const box = item.task ? (item.checked === true ? "☑" : "☐") : undefined;
    const bullet = ordered ? `${number} ${box === undefined ? "" : `${box} `}` : `${box ?? "•"} `;
    const indent = " ".repeat(styledWidth(bullet));
    const inner = { ...style, width: Math.max(1, style.width - indent.length) };
    const blocks = visibleBlocks(item.tokens);
    const lines = item.loose ? renderMarkdown(blocks, inner) : blocks.flatMap((b) => renderMarkdownBlock(b, inner));
    return (lines.length === 0 ? [""] : lines).map((line, at) => (at === 0 ? bullet + line : indent + line).trimEnd());
  });
}

function visibleBlocks(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ type }) => type !== "space" && type !== "def" && type !== "checkbox");
}
