/** Reads again what was too long for the log: a kept result, part by part. */
import { z } from "zod";
import type { ToolContext, ToolResult, ToolSource, ToolSpec } from "../domain/index.ts";
import { indexOfText } from "../stdx/index.ts";

const MOST_CHARACTERS = 20_000;
/** Of a kept result, no more than this is looked at; the rest is said to be there. */
const MOST_BYTES = 16 * 1024 * 1024;
const LINE_CHARACTERS = 500;

const Input = z.lazy(() =>
  z.object({
    handle: z.string().min(1).max(200),
    offset: z.int().nonnegative().default(0),
    limit: z.int().positive().max(MOST_CHARACTERS).default(MOST_CHARACTERS),
    pattern: z.string().min(1).max(1_000).optional(),
  }),
);
type Input = z.infer<typeof Input>;

const READ_RESULT: ToolSpec = {
  name: "read_result",
  title: "Read a long result",
  description:
    "Reads a result that was too long to show, by the handle that was given for it: a part from `offset`, or with " +
    "`pattern` the lines that contain it.",
  inputSchema: {
    type: "object",
    properties: {
      handle: { type: "string", description: "The handle that stands where the result was cut." },
      offset: { type: "integer", minimum: 0, description: "The character to begin at; 0 where left out." },
      limit: { type: "integer", minimum: 1, maximum: MOST_CHARACTERS, description: "How many characters to read." },
      pattern: { type: "string", description: "Plain text, in any case; only lines with it are shown, numbered." },
    },
    required: ["handle"],
    additionalProperties: false,
  },
  kind: "read",
  readOnly: true,
};
const LIST = [READ_RESULT];

export function resultsSource(): ToolSource {
  return {
    id: "results",
    list: () => LIST,
    describe: () => ({ title: "Read a long result" }),
    async call({ input }, context) {
      const parsed = Input.safeParse(input);
      if (!parsed.success) return failed(`read_result: ${z.prettifyError(parsed.error)}`);
      return read(parsed.data, context);
    },
  };
}

async function read(input: Input, context: ToolContext): Promise<ToolResult> {
  const bytes = await context.getBlob(input.handle);
  if (bytes === undefined) return failed(`there is no kept result "${input.handle}"; use a handle as it was given`);
  const text = textOf(bytes);
  if (text === undefined) return failed(`the kept result is not text: ${bytes.length} bytes`);
  const more = bytes.length > MOST_BYTES ? `\n[only the first ${MOST_BYTES} of ${bytes.length} bytes can be read]` : "";
  const shown = input.pattern === undefined ? part(text, input) : matches(text, input.pattern, input);
  return { outcome: "ok", text: shown + more };
}

function part(text: string, { offset, limit }: Input): string {
  if (offset >= text.length) return `[it ends at character ${text.length}]`;
  const end = Math.min(offset + limit, text.length);
  const next = end < text.length ? `; go on with offset ${end}` : "";
  return `${text.slice(offset, end)}\n[characters ${offset} to ${end} of ${text.length}${next}]`;
}

/** `offset` is where in the text to begin here too. A pattern is no expression: one from a model could run for ever. */
function matches(text: string, pattern: string, { offset, limit }: Input): string {
  const wanted = pattern.toLowerCase();
  const lines: string[] = [];
  let room = limit;
  let start = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const at = start;
    start += line.length + 1;
    if (at < offset || indexOfText(line.toLowerCase(), wanted) === -1) continue;
    const shown = `${index + 1}: ${line.slice(0, LINE_CHARACTERS)}`;
    room -= shown.length + 1;
    if (room < 0 && lines.length > 0) return `${lines.join("\n")}\n[more lines match; go on with offset ${at}]`;
    lines.push(shown);
  }
  return lines.length === 0 ? `[no line has "${pattern}"]` : lines.join("\n");
}

function textOf(bytes: Uint8Array): string | undefined {
  const cut = bytes.length > MOST_BYTES;
  try {
    // `stream` keeps a character that the cut went through from being an error.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, MOST_BYTES), { stream: cut });
  } catch {
    return undefined;
  }
}

function failed(text: string): ToolResult {
  return { outcome: "failed", text };
}
