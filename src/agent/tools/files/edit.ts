/** The `edit` tool: replaces exact text in a file in the working directory. */
import { z } from "zod";
import { confined, replaceConfined, splitText } from "../../../stdx/index.ts";
import { createFileDiff } from "../truncate.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { defineTool, okResult, textWithoutNul, wellFormedText } from "../tool.ts";
import { MAX_FILE_BYTES, decodeUtf8, loadFile } from "./load-file.ts";
import { describeMismatch } from "./mismatch.ts";
import { runFileChange } from "./seen-files.ts";
import { formatUnifiedDiff } from "./unified-diff.ts";

export const editTool = defineTool({
  name: "edit",
  description:
    "Replace text in a file that was read before. old_text must match the file exactly, including whitespace and without line numbers, and must occur only once unless replace_all is true. CRLF line endings are preserved.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: textWithoutNul().describe("relative to the working directory"),
    old_text: wellFormedText().min(1),
    new_text: wellFormedText(),
    replace_all: z.boolean().optional(),
  }),
  describe: ({ path }) => ({ title: `edit ${path}`, locations: [{ path }] }),
  async run({ path, old_text, new_text, replace_all = false }, { folders, seen }) {
    const real = await confined(folders, path);
    return runFileChange(real, async () => {
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
      const after = pieces.join(replacement);
      await replaceConfined(folders, path, after, { instead: stamp });
      const line = (pieces[0] ?? "").split("\n").length;
      const where = count === 1 ? `line ${line}` : `${count} places`;
      return okResult(`changed ${path} at ${where}\n${formatUnifiedDiff(before, after)}`, {
        ...seen.recordVersion(real, Buffer.from(after)),
        locations: [{ path, line }],
        diffs: [createFileDiff(path, before, after)],
      });
    });
  },
});

/** Whether every line ends with CRLF. The `read` tool hides these endings, so a model passes text with LF. */
function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
