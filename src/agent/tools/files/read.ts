/** The `read` tool: reads a text file, or a range of its lines, or an image from the working directory. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import type { ToolResult } from "../../../domain/index.ts";
import { confined, openPlain } from "../../../stdx/index.ts";
import { MAX_RESULT_LENGTH, truncateLine } from "../truncate.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { FILE_TIMEOUT_MS, defineTool, okResult, textWithoutNul, type CodingToolContext } from "../tool.ts";
import { detectImageType } from "../../../stdx/image-type.ts";
import { MAX_IMAGE_BYTES } from "./image.ts";
import { MAX_FILE_BYTES, decodeUtf8, loadOpenFile, readUpTo } from "./load-file.ts";
import { readLineRange } from "./line-range.ts";

const DEFAULT_LINES = 2_000;
const MAX_LINE_LENGTH = 2_000;
const HEAD_BYTES = 8_192;

interface RequestedRange {
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
}

export const readTool = defineTool({
  name: "read",
  description:
    "Read a file. Text is returned with line numbers, which are not part of the file; for a long file, pass offset and limit. An image (PNG, JPEG, GIF, WebP) is shown to you. Read a file before you change it.",
  kind: "read",
  readOnly: true,
  timeoutMs: FILE_TIMEOUT_MS,
  input: z.strictObject({
    path: textWithoutNul().describe("relative to the working directory"),
    offset: z.int().positive().optional().describe("the first line to return, starting at 1"),
    limit: z.int().positive().optional().describe(`the number of lines to return (default: ${DEFAULT_LINES})`),
  }),
  describe: ({ path, offset }) => ({
    title: `read ${path}${offset === undefined ? "" : ` from line ${offset}`}`,
    locations: [{ path, ...(offset !== undefined && { line: offset }) }],
  }),
  async run({ path, offset = 1, limit = DEFAULT_LINES }, context) {
    const real = await confined(context.folders, path);
    const file = await openPlain(real, constants.O_RDONLY);
    try {
      const head = await readUpTo(file, HEAD_BYTES);
      const mediaType = detectImageType(head);
      if (mediaType !== undefined) return await readImage(file, { path, mediaType }, context);
      const { size } = await file.stat();
      if (head.includes(0)) throw new ToolRefusal(`${path} is not a text file (${size} bytes): use bash`);
      if (size > MAX_FILE_BYTES) return await readLargeFile(file, { path, offset, limit }, size, context);
      const { bytes } = await loadOpenFile(file, path);
      const text = decodeUtf8(bytes, path);
      const lines = formatLines(text, { path, offset, limit });
      return okResult(lines, context.seen.recordVersion(real, bytes));
    } finally {
      await file.close();
    }
  },
});

async function readImage(
  file: FileHandle,
  { path, mediaType }: { readonly path: string; readonly mediaType: string },
  context: CodingToolContext,
): Promise<ToolResult> {
  const bytes = await readUpTo(file, MAX_IMAGE_BYTES + 1);
  if (bytes.length > MAX_IMAGE_BYTES) {
    const { size } = await file.stat();
    throw new ToolRefusal(
      `${path} is an image of ${size} bytes, and the limit is ${MAX_IMAGE_BYTES}: make a smaller copy`,
    );
  }
  const hash = await context.putBlob(bytes);
  return okResult(`${path}: ${mediaType}, ${bytes.length} bytes`, {
    blobs: [{ type: "blob", hash, mediaType, name: basename(path) }],
  });
}

/** Does not count all lines, because that requires reading the whole file. */
async function readLargeFile(
  file: FileHandle,
  { path, offset, limit }: RequestedRange,
  size: number,
  { signal }: CodingToolContext,
): Promise<ToolResult> {
  const maxBytes = 4 * MAX_RESULT_LENGTH;
  const { bytes, lines: lineCount } = await readLineRange(file, { offset, limit, maxBytes, signal });
  if (lineCount !== undefined) throw new ToolRefusal(`${path} has only ${lineCount} lines`);
  const { numbered } = numberLines(splitLines(decodeUtf8(bytes, path, { cut: true })), offset);
  return okResult(`${numbered}\n… the file has ${size} bytes: for more, pass offset, or search it with bash`);
}

function formatLines(text: string, { path, offset, limit }: RequestedRange): string {
  if (text === "") return "[the file is empty]";
  const lines = splitLines(text.startsWith("\ufeff") ? text.slice(1) : text);
  if (offset > lines.length) throw new ToolRefusal(`${path} has only ${lines.length} lines`);
  const { numbered, shown } = numberLines(lines.slice(offset - 1, offset - 1 + limit), offset);
  const left = lines.length - (offset - 1 + shown);
  return numbered + (left > 0 ? `\n… ${left} more lines` : "");
}

/** Removes CRLF endings if every line has one. The edit tool restores them. */
function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.every((line) => line.endsWith("\r")) ? lines.map((line) => line.slice(0, -1)) : lines;
}

/** Numbers as many lines as fit, and truncates long ones. */
function numberLines(lines: readonly string[], offset: number): { readonly numbered: string; readonly shown: number } {
  const shown: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    const numbered = `${offset + index}\t${truncateLine(line, MAX_LINE_LENGTH)}`;
    length += numbered.length + 1;
    if (length > MAX_RESULT_LENGTH && shown.length > 0) break;
    shown.push(numbered);
  }
  return { numbered: shown.join("\n"), shown: shown.length };
}
