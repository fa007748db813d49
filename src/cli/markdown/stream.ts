/** Splits streaming Markdown into blocks. A closed block is final; only the last block can still change. */
import { Lexer, type Token } from "marked";
import { stripHidden } from "../sanitize.ts";

export type MarkdownBlock = Token;

export interface MarkdownStream {
  /** The source of the blocks that can still change. */
  readonly open: string;
}

export interface MarkdownUpdate {
  readonly stream: MarkdownStream;
  readonly closed: readonly MarkdownBlock[];
}

export const EMPTY_MARKDOWN: MarkdownStream = { open: "" };

/** A longer open block is closed in the middle, so that each update takes a bounded time. */
const MAX_OPEN_LENGTH = 16 * 1024;

const EMPTY_LINE = /\n[ \t]*\n/;
/** The end of the earlier text in which an empty line may have started. */
const SEAM_LENGTH = 80;

/** Removes control, bidi and zero-width characters from the text. */
export function appendMarkdown({ open }: MarkdownStream, text: string): MarkdownUpdate {
  const clean = stripHidden(text);
  const source = open + clean;
  if (source.length > MAX_OPEN_LENGTH) return splitLongBlock(source);
  // Most blocks end at an empty line. Others are closed with the next one, so that a delta costs no parsing.
  const hasEmptyLine = EMPTY_LINE.test(open.slice(-SEAM_LENGTH) + clean);
  return hasEmptyLine ? closeBlocks(source) : { stream: { open: source }, closed: [] };
}

/** Ends the stream. */
export function finishMarkdown({ open }: MarkdownStream): readonly MarkdownBlock[] {
  return parseBlocks(open).filter(isVisible);
}

/** The blocks that can still change. */
export function openBlocks({ open }: MarkdownStream): readonly MarkdownBlock[] {
  return open === "" ? [] : parseBlocks(open).filter(isVisible);
}

export function parseMarkdown(source: string): readonly MarkdownBlock[] {
  return parseBlocks(stripHidden(source)).filter(isVisible);
}

function closeBlocks(source: string): MarkdownUpdate {
  const blocks = parseBlocks(source);
  const last = blocks.findLastIndex(isVisible);
  const closed = blocks.slice(0, Math.max(0, last));
  const length = closed.reduce((sum, { raw }) => sum + raw.length, 0);
  return { stream: { open: source.slice(length) }, closed: closed.filter(isVisible) };
}

/** Cuts at the last line break. A code block continues with the same fence. */
function splitLongBlock(source: string): MarkdownUpdate {
  const { stream, closed } = closeBlocks(source);
  if (stream.open.length <= MAX_OPEN_LENGTH) return { stream, closed };
  const cut = stream.open.lastIndexOf("\n") + 1;
  const head = stream.open.slice(0, cut);
  const fence = /^(?:`{3,}|~{3,})[^\n]*\n/.exec(stream.open)?.[0] ?? "";
  const blocks = parseBlocks(head).filter(isVisible);
  return { stream: { open: fence + stream.open.slice(cut) }, closed: [...closed, ...blocks] };
}

function parseBlocks(source: string): Token[] {
  return Lexer.lex(source);
}

function isVisible({ type }: Token): boolean {
  return type !== "space" && type !== "def";
}
