/** Reads a text file of the working folder, whole or a range of lines. */
import { constants } from "node:fs";
import { z } from "zod";
import { confined, openPlain } from "../../stdx/index.ts";
import { MAX_RESULT_LENGTH, bounded } from "./text.ts";
import { ToolRefusal, defineTool, ok, systemText } from "./tool.ts";

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const DEFAULT_LINES = 2_000;

export const read = defineTool({
  name: "read",
  description:
    "Read a text file of the working folder. Gives the text with line numbers; for a long file give offset and limit.",
  kind: "read",
  readOnly: true,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    offset: z.int().positive().optional().describe("the first line to give, counted from 1"),
    limit: z.int().positive().optional().describe(`how many lines to give; ${DEFAULT_LINES} if not said`),
  }),
  describe: ({ path, offset }) => ({
    title: `read ${path}${offset === undefined ? "" : ` from line ${offset}`}`,
    locations: [{ path, ...(offset !== undefined && { line: offset }) }],
  }),
  async run({ path, offset = 1, limit = DEFAULT_LINES }, { cwd }) {
    const text = await readConfined(cwd, path);
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    if (offset > Math.max(1, lines.length)) throw new ToolRefusal(`${path} has only ${lines.length} lines`);
    const shown = lines.slice(offset - 1, offset - 1 + limit);
    const numbered = shown.map((line, index) => `${offset + index}\t${line}`).join("\n");
    const left = lines.length - (offset - 1 + shown.length);
    return ok(bounded(numbered, MAX_RESULT_LENGTH) + (left > 0 ? `\n… ${left} more lines` : ""));
  },
});

export async function readConfined(cwd: string, path: string): Promise<string> {
  const file = await openPlain(await confined([cwd], path), constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new ToolRefusal(`${path} has ${size} bytes, more than this tool reads: use bash`);
    const bytes = await file.readFile();
    if (bytes.includes(0)) throw new ToolRefusal(`${path} is not a text file`);
    return decoded(bytes, path);
  } finally {
    await file.close();
  }
}

/** Bytes that would be replaced in reading would be lost in writing back; a byte order mark is text like any other. */
function decoded(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolRefusal(`${path} is not UTF-8: use bash, with a program that knows its encoding`);
  }
}
