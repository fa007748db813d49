/** The `edit` tool: replaces exact text in a file in the working directory. */
import { z } from "zod";
import { boundFileDiff } from "../../../domain/file-diff.ts";
import { confined, replaceConfined, splitText } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { defineTool, okResult, textWithoutNul, wellFormedText, type PreviewContext } from "../tool.ts";
import { MAX_FILE_BYTES, decodeUtf8, loadFile, type LoadedFile } from "./load-file.ts";
import { describeMismatch } from "./mismatch.ts";
import { runFileChange } from "./seen-files.ts";
import { formatUnifiedDiff } from "./unified-diff.ts";

const EditInput = z.strictObject({
  path: textWithoutNul().describe("relative to the working directory"),
  old_text: wellFormedText().min(1),
  new_text: wellFormedText(),
  replace_all: z.boolean().optional(),
});
type EditInput = z.infer<typeof EditInput>;

export const editTool = defineTool({
  name: "edit",
  description:
    "Replace text in a file that was read before. old_text must match the file exactly, including whitespace and without line numbers, and must occur only once unless replace_all is true. CRLF line endings are preserved.",
  kind: "edit",
  readOnly: false,
  input: EditInput,
  describe: ({ path }) => ({ title: `edit ${path}`, locations: [{ path }] }),
  async preview(input, context) {
    const { path } = input;
    const { before, after } = await planEdit(await confined(context.folders, path), input, context);
    return { diffs: [boundFileDiff({ path, before, after })] };
  },
  async run(input, context) {
    const { path } = input;
    const { folders, seen } = context;
    const real = await confined(folders, path);
    return runFileChange(real, async () => {
      const { before, after, stamp, line, count } = await planEdit(real, input, context);
      await replaceConfined(folders, path, after, { instead: stamp });
      const where = count === 1 ? `line ${line}` : `${count} places`;
      return okResult(`changed ${path} at ${where}\n${formatUnifiedDiff(before, after)}`, {
        ...seen.recordVersion(real, Buffer.from(after)),
        locations: [{ path, line }],
        diffs: [boundFileDiff({ path, before, after })],
      });
    });
  },
});

interface PlannedEdit extends Pick<LoadedFile, "stamp"> {
  readonly before: string;
  readonly after: string;
  /** The line of the first replaced text. */
  readonly line: number;
  /** The number of replaced texts. */
  readonly count: number;
}

/** Reads the file and computes its new text. Rejects with a ToolRefusal if the edit is not possible. */
async function planEdit(
  real: string,
  { path, old_text, new_text, replace_all = false }: EditInput,
  { seen }: Pick<PreviewContext, "seen">,
): Promise<PlannedEdit> {
  const { bytes, stamp } = await loadFile(real, path);
  const before = decodeUtf8(bytes, path);
  await seen.requireSeen(real, path, bytes);
  const restoreLineEndings = (text: string) => (hasOnlyCrlf(before) ? text.replaceAll(/\r?\n/g, "\r\n") : text);
  const [old, replacement] = [restoreLineEndings(old_text), restoreLineEndings(new_text)];
  if (old === replacement) throw new ToolRefusal("old_text and new_text are identical: there is nothing to change");
  const pieces = splitText(before, old);
  const count = pieces.length - 1;
  if (count === 0) throw new ToolRefusal(describeMismatch(before, old, path));
  if (count > 1 && !replace_all) {
    throw new ToolRefusal(
      `old_text occurs ${count} times in ${path}: include more context to make it unique, or set replace_all`,
    );
  }
  if (before.length + count * replacement.length > MAX_FILE_BYTES * 2) {
    throw new ToolRefusal(`${path} would become too large: use bash`);
  }
  const line = (pieces[0] ?? "").split("\n").length;
  return { before, after: pieces.join(replacement), stamp, line, count };
}

/** Whether every line ends with CRLF. The `read` tool hides these endings, so a model passes text with LF. */
function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
