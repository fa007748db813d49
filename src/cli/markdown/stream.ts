/** Splits streaming Markdown into blocks. A closed block is final; only the last block can still change. */
import type { Token } from "marked";
import { stripHidden } from "../sanitize.ts";
import { parseBlocks } from "./bounded-lexer.ts";

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
/** A longer fence is not repeated after a cut, because each part would consist mostly of it. */
const MAX_FENCE_LENGTH = 200;

const EMPTY_LINE = /\n[ \t]*\n/;
/** The end of the earlier text in which an empty line may have started. */
const SEAM_LENGTH = 80;

/** Removes control, bidi and zero-width characters from the text. */
export function appendMarkdown({ open }: MarkdownStream, text: string): MarkdownUpdate {
  const clean = stripHidden(text);
  if (clean.length <= MAX_OPEN_LENGTH) return appendPiece(open, clean);
  const closed: MarkdownBlock[] = [];
  let stream: MarkdownStream = { open };
  for (let at = 0; at < clean.length; at += MAX_OPEN_LENGTH) {
    const update = appendPiece(stream.open, clean.slice(at, at + MAX_OPEN_LENGTH));
    stream = update.stream;
    for (const block of update.closed) closed.push(block);
  }
  return { stream, closed };
}

function appendPiece(open: string, piece: string): MarkdownUpdate {
  const source = open + piece;
  if (source.length > MAX_OPEN_LENGTH) return splitLongBlock(source);
  // Most blocks end at an empty line. Others are closed with the next one, so that a delta costs no parsing.
  const hasEmptyLine = EMPTY_LINE.test(open.slice(-SEAM_LENGTH) + piece);
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
  const { stream, closed } = appendMarkdown(EMPTY_MARKDOWN, source);
  return [...closed, ...finishMarkdown(stream)];
}

function closeBlocks(source: string): MarkdownUpdate {
  const blocks = parseBlocks(source);
  const last = blocks.findLastIndex(isVisible);
  const closed = blocks.slice(0, Math.max(0, last));
  const length = closed.reduce((sum, { raw }) => sum + raw.length, 0);
  return { stream: { open: source.slice(length) }, closed: closed.filter(isVisible) };
}

/** Cuts at the last line break, or a longer line at its end. A code block continues with the same fence. */
function splitLongBlock(source: string): MarkdownUpdate {
  const { stream, closed } = closeBlocks(source);
  if (stream.open.length <= MAX_OPEN_LENGTH) return { stream, closed };
  const firstLine = stream.open.slice(0, stream.open.indexOf("\n") + 1);
  const start = /^(?:```|~~~)/.test(firstLine) ? firstLine : "";
  const lineEnd = stream.open.lastIndexOf("\n") + 1;
  const cut = lineEnd > start.length ? lineEnd : stream.open.length;
  const fence = start.length > MAX_FENCE_LENGTH ? "" : start;
  const blocks = parseBlocks(stream.open.slice(0, cut)).filter(isVisible);
  return { stream: { open: fence + stream.open.slice(cut) }, closed: [...closed, ...blocks] };
}

function isVisible({ type }: Token): boolean {
  return type !== "space" && type !== "def";
}
