/** Renders the messages of agents as Markdown, on terminals that have colors. */
import { hasColor, type Io } from "../io.ts";
import { ansiPaint } from "../paint.ts";

export interface MessageRenderer {
  /**
   * Adds text to `open`, the source of the block that can still change. Returns the lines of each block that is complete,
   * and the source of the rest.
   */
  append(open: string, text: string, width: number): { readonly open: string; readonly blocks: readonly string[][] };
  /** Returns the lines of each block of the source. */
  render(source: string, width: number): readonly string[][];
}

/**
 * Returns undefined if messages are printed as they are: to a pipe or a file, and on a terminal without colors. Markdown
 * is loaded here, because most commands do not need it.
 */
export async function loadMessageRenderer(io: Pick<Io, "env" | "stdout">): Promise<MessageRenderer | undefined> {
  if (!hasColor(io)) return undefined;
  const { appendMarkdown, parseMarkdown } = await import("../markdown/stream.ts");
  const { renderMarkdownBlock } = await import("../markdown/render.ts");
  const { highlightCode: highlight } = await import("../markdown/highlight.ts");
  const styleOf = (width: number) => ({ width, paint: ansiPaint, highlight });
  return {
    append(open, text, width) {
      const { stream, closed } = appendMarkdown({ open }, text);
      return { open: stream.open, blocks: closed.map((block) => renderMarkdownBlock(block, styleOf(width))) };
    },
    render: (source, width) => parseMarkdown(source).map((block) => renderMarkdownBlock(block, styleOf(width))),
  };
}
