/** Reads a file of the working folder: a text, whole or a range of its lines, or an image. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import type { ToolResult } from "../../../domain/index.ts";
import { confined, openPlain } from "../../../stdx/index.ts";
import { MAX_RESULT_LENGTH, cut } from "../text.ts";
import { LOOKING_MS, ToolRefusal, defineTool, ok, systemText, type CallContext } from "../tool.ts";
import { MAX_IMAGE_BYTES, imageTypeOf } from "./image.ts";
import { MAX_FILE_BYTES, decoded, loadOpen, readAtMost } from "./load.ts";
import { findRange } from "./range.ts";

const DEFAULT_LINES = 2_000;
const MAX_LINE_LENGTH = 2_000;
const HEAD_BYTES = 8_192;

interface Wanted {
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
}

export const read = defineTool({
  name: "read",
  description:
    "Read a file. Gives a text with line numbers, which are not part of it; for a long file give offset and limit. An image (PNG, JPEG, GIF, WebP) is shown to you. A file must be read before it is changed.",
  kind: "read",
  readOnly: true,
  timeoutMs: LOOKING_MS,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    offset: z.int().positive().optional().describe("the first line to give, counted from 1"),
    limit: z.int().positive().optional().describe(`how many lines to give; ${DEFAULT_LINES} if not said`),
  }),
  describe: ({ path, offset }) => ({
    title: `read ${path}${offset === undefined ? "" : ` from line ${offset}`}`,
    locations: [{ path, ...(offset !== undefined && { line: offset }) }],
  }),
  async run({ path, offset = 1, limit = DEFAULT_LINES }, context) {
    const real = await confined(context.folders, path);
    const file = await openPlain(real, constants.O_RDONLY);
    try {
      const head = await readAtMost(file, HEAD_BYTES);
      const mediaType = imageTypeOf(head);
      if (mediaType !== undefined) return await image(file, { path, mediaType }, context);
      const { size } = await file.stat();
      if (head.includes(0)) throw new ToolRefusal(`${path} is not a text file; it has ${size} bytes: use bash`);
      if (size > MAX_FILE_BYTES) return await rangeOf(file, { path, offset, limit }, size, context);
      const { bytes } = await loadOpen(file, path);
      const text = decoded(bytes, path);
      const lines = linesOf(text, { path, offset, limit });
      return ok(lines, context.seen.note(real, bytes));
    } finally {
      await file.close();
    }
  },
});

async function image(
  file: FileHandle,
  { path, mediaType }: { readonly path: string; readonly mediaType: string },
  context: CallContext,
): Promise<ToolResult> {
  const bytes = await readAtMost(file, MAX_IMAGE_BYTES + 1);
  if (bytes.length > MAX_IMAGE_BYTES) {
    const { size } = await file.stat();
    throw new ToolRefusal(
      `${path} is an image of ${size} bytes, and ${MAX_IMAGE_BYTES} are shown: make a smaller copy`,
    );
  }
  const hash = await context.putBlob(bytes);
  return ok(`${path}: ${mediaType}, ${bytes.length} bytes`, {
    blobs: [{ type: "blob", hash, mediaType, name: basename(path) }],
  });
}

/** How many lines there are is not known: that would be reading it all. */
async function rangeOf(
  file: FileHandle,
  { path, offset, limit }: Wanted,
  size: number,
  { signal }: CallContext,
): Promise<ToolResult> {
  const mostBytes = 4 * MAX_RESULT_LENGTH;
  const { bytes, lines: all } = await findRange(file, { offset, limit, mostBytes, signal });
  if (all !== undefined) throw new ToolRefusal(`${path} has only ${all} lines`);
  const { numbered } = number(split(decoded(bytes, path, { cut: true })), offset);
  return ok(`${numbered}\n… of a file of ${size} bytes: for more, give offset, or search it with grep or bash`);
}

function linesOf(text: string, { path, offset, limit }: Wanted): string {
  if (text === "") return "[the file is empty]";
  const lines = split(text.startsWith("\ufeff") ? text.slice(1) : text);
  if (offset > lines.length) throw new ToolRefusal(`${path} has only ${lines.length} lines`);
  const { numbered, shown } = number(lines.slice(offset - 1, offset - 1 + limit), offset);
  const left = lines.length - (offset - 1 + shown);
  return numbered + (left > 0 ? `\n… ${left} more lines` : "");
}

/** The ends of lines are kept by whoever changes the file, and are not shown. */
function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.every((line) => line.endsWith("\r")) ? lines.map((line) => line.slice(0, -1)) : lines;
}

/** As many lines as fit; each of them cut where it is long. */
function number(lines: readonly string[], offset: number): { readonly numbered: string; readonly shown: number } {
  const shown: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    const numbered = `${offset + index}\t${cut(line, MAX_LINE_LENGTH)}`;
    length += numbered.length + 1;
    if (length > MAX_RESULT_LENGTH && shown.length > 0) break;
    shown.push(numbered);
  }
  return { numbered: shown.join("\n"), shown: shown.length };
}
