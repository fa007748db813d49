/** The `read_result` tool: reads results that were too long for the log, part by part. */
import { z } from "zod";
import type { ToolContext, ToolResult, ToolSource, ToolSpec } from "../domain/index.ts";
import { indexOfText } from "../stdx/index.ts";

const MAX_READ_CHARACTERS = 20_000;
/** How much of a stored result is readable. The reply says if there is more. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 500;

const Input = z.lazy(() =>
  z.object({
    handle: z.string().min(1).max(200),
    offset: z.int().nonnegative().default(0),
    limit: z.int().positive().max(MAX_READ_CHARACTERS).default(MAX_READ_CHARACTERS),
    pattern: z.string().min(1).max(1_000).optional(),
  }),
);
type Input = z.infer<typeof Input>;

const READ_RESULT: ToolSpec = {
  name: "read_result",
  title: "Read a long result",
  description:
    "Reads a stored result that was too long to show. Returns the part at `offset`, or with `pattern` the lines that " +
    "contain it.",
  inputSchema: {
    type: "object",
    properties: {
      handle: { type: "string", description: "The handle from the truncated result." },
      offset: { type: "integer", minimum: 0, description: "The character to start at. Default: 0." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_READ_CHARACTERS,
        description: "The maximum number of characters to read.",
      },
      pattern: {
        type: "string",
        description: "Plain text, not case-sensitive. Returns only lines that contain it, with line numbers.",
      },
    },
    required: ["handle"],
    additionalProperties: false,
  },
  kind: "read",
  readOnly: true,
};
const LIST = [READ_RESULT];

export function readResultSource(): ToolSource {
  return {
    id: "results",
    list: () => LIST,
    describe: () => ({ title: "Read a long result" }),
    async call({ input }, context) {
      const parsed = Input.safeParse(input);
      if (!parsed.success) return failedResult(`read_result: ${z.prettifyError(parsed.error)}`);
      return readStoredResult(parsed.data, context);
    },
  };
}

async function readStoredResult(input: Input, context: ToolContext): Promise<ToolResult> {
  const bytes = await context.getBlob(input.handle);
  if (bytes === undefined)
    return failedResult(`no stored result has the handle "${input.handle}"; use a handle from an earlier result`);
  const text = decodeText(bytes);
  if (text === undefined) return failedResult(`the stored result is not text (${bytes.length} bytes)`);
  const more =
    bytes.length > MAX_READ_BYTES ? `\n[only the first ${MAX_READ_BYTES} of ${bytes.length} bytes are readable]` : "";
  const shown = input.pattern === undefined ? formatPart(text, input) : formatMatchingLines(text, input.pattern, input);
  return { outcome: "ok", text: shown + more };
}

function formatPart(text: string, { offset, limit }: Input): string {
  if (offset >= text.length) return `[the result ends at character ${text.length}]`;
  const end = Math.min(offset + limit, text.length);
  const next = end < text.length ? `; continue with offset ${end}` : "";
  return `${text.slice(offset, end)}\n[characters ${offset} to ${end} of ${text.length}${next}]`;
}

/**
 * Starts at `offset`, like `part`. The pattern is plain text, because a regular expression from a model could run
 * forever.
 */
function formatMatchingLines(text: string, pattern: string, { offset, limit }: Input): string {
  const wanted = pattern.toLowerCase();
  const lines: string[] = [];
  let room = limit;
  let start = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const at = start;
    start += line.length + 1;
    if (at < offset || indexOfText(line.toLowerCase(), wanted) === -1) continue;
    const shown = `${index + 1}: ${line.slice(0, MAX_LINE_CHARACTERS)}`;
    room -= shown.length + 1;
    if (room < 0 && lines.length > 0) return `${lines.join("\n")}\n[more lines match; continue with offset ${at}]`;
    lines.push(shown);
  }
  return lines.length === 0 ? `[no line contains "${pattern}"]` : lines.join("\n");
}

function decodeText(bytes: Uint8Array): string | undefined {
  const cut = bytes.length > MAX_READ_BYTES;
  try {
    // `stream` keeps a character at the cut from being an error.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, MAX_READ_BYTES), { stream: cut });
  } catch {
    return undefined;
  }
}

function failedResult(text: string): ToolResult {
  return { outcome: "failed", text };
}
