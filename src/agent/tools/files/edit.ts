/** Replaces an exact piece of text in a file of the working folder. */
import { z } from "zod";
import { confined, replaceConfined, splitText } from "../../../stdx/index.ts";
import { diffOf } from "../text.ts";
import { ToolRefusal, defineTool, ok, systemText, wholeText } from "../tool.ts";
import { MAX_FILE_BYTES, decoded, load } from "./load.ts";
import { mismatch } from "./mismatch.ts";
import { inTurn } from "./seen.ts";
import { unifiedDiff } from "./unified-diff.ts";

export const edit = defineTool({
  name: "edit",
  description:
    "Replace a piece of text in a file that was read before. old_text must stand in the file exactly as given, spaces included and line numbers left out, and only once unless replace_all is true. Where the lines of the file end with CRLF, they go on doing so.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    old_text: wholeText().min(1),
    new_text: wholeText(),
    replace_all: z.boolean().optional(),
  }),
  describe: ({ path }) => ({ title: `edit ${path}`, locations: [{ path }] }),
  async run({ path, old_text, new_text, replace_all = false }, { folders, seen }) {
    const real = await confined(folders, path);
    return inTurn(real, async () => {
      const { bytes, stamp } = await load(real, path);
      const before = decoded(bytes, path);
      await seen.mustKnow(real, path, bytes);
      const ends = (text: string) => (hasOnlyCrlf(before) ? text.replaceAll(/\r?\n/g, "\r\n") : text);
      const [old, wanted] = [ends(old_text), ends(new_text)];
      if (old === wanted) throw new ToolRefusal("old_text and new_text are the same: there is nothing to change");
      const pieces = splitText(before, old);
      const count = pieces.length - 1;
      if (count === 0) throw new ToolRefusal(mismatch(before, old, path));
      if (count > 1 && !replace_all) {
        throw new ToolRefusal(
          `old_text stands ${count} times in ${path}; give more of its surroundings, or replace_all`,
        );
      }
      if (before.length + count * wanted.length > MAX_FILE_BYTES * 2) {
        throw new ToolRefusal(`${path} would have too many characters then: use bash`);
      }
      const after = pieces.join(wanted);
      await replaceConfined(folders, path, after, { instead: stamp });
      const line = (pieces[0] ?? "").split("\n").length;
      const where = count === 1 ? `line ${line}` : `${count} places`;
      return ok(`changed ${path} in ${where}\n${unifiedDiff(before, after)}`, {
        ...seen.note(real, Buffer.from(after)),
        locations: [{ path, line }],
        diffs: [diffOf(path, before, after)],
      });
    });
  },
});

/** Does every line end so? Whoever sees the text of such a file does not see them, and gives plain ends. */
function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
