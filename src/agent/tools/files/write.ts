/** Writes a whole file of the working folder. */
import { z } from "zod";
import { confined, replaceConfined } from "../../../stdx/index.ts";
import { diffOf } from "../text.ts";
import { defineTool, ok, systemText, wholeText } from "../tool.ts";
import { decoded, load } from "./load.ts";
import { inTurn } from "./seen.ts";
import { unifiedDiff } from "./unified-diff.ts";

export const write = defineTool({
  name: "write",
  description:
    "Write a whole file, with the folders that it needs. One that exists is replaced, and must have been read before. To change a part of a file, use edit.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    content: wholeText().describe("the whole new text"),
  }),
  describe: ({ path }) => ({ title: `write ${path}`, locations: [{ path }] }),
  async run({ path, content }, { folders, seen }) {
    const real = await confined(folders, path);
    return inTurn(real, async () => {
      const before = await load(real, path).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      });
      const old = before === null ? null : decoded(before.bytes, path);
      if (before !== null) await seen.mustKnow(real, path, before.bytes);
      await replaceConfined(folders, path, content, { instead: before?.stamp ?? null });
      const what = `${old === null ? "wrote" : "replaced"} ${path} (${content.length} characters)`;
      return ok(old === null ? what : `${what}\n${unifiedDiff(old, content)}`, {
        ...seen.note(real, Buffer.from(content)),
        locations: [{ path }],
        diffs: [diffOf(path, old, content)],
      });
    });
  },
});
