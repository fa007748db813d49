/** The `write` tool: writes a complete file in the working directory. */
import { z } from "zod";
import { confined, replaceConfined } from "../../../stdx/index.ts";
import { createFileDiff } from "../truncate.ts";
import { defineTool, okResult, textWithoutNul, wellFormedText } from "../tool.ts";
import { decodeUtf8, loadFile } from "./load-file.ts";
import { runFileChange } from "./seen-files.ts";
import { formatUnifiedDiff } from "./unified-diff.ts";

export const writeTool = defineTool({
  name: "write",
  description:
    "Write a complete file and create missing parent directories. An existing file is replaced, and must have been read before. To change part of a file, use edit.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: textWithoutNul().describe("relative to the working directory"),
    content: wellFormedText().describe("the complete new content"),
  }),
  describe: ({ path }) => ({ title: `write ${path}`, locations: [{ path }] }),
  async run({ path, content }, { folders, seen }) {
    const real = await confined(folders, path);
    return runFileChange(real, async () => {
      const before = await loadFile(real, path).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      });
      const old = before === null ? null : decodeUtf8(before.bytes, path);
      if (before !== null) await seen.requireSeen(real, path, before.bytes);
      await replaceConfined(folders, path, content, { instead: before?.stamp ?? null });
      const summary = `${old === null ? "wrote" : "replaced"} ${path} (${content.length} characters)`;
      return okResult(old === null ? summary : `${summary}\n${formatUnifiedDiff(old, content)}`, {
        ...seen.recordVersion(real, Buffer.from(content)),
        locations: [{ path }],
        diffs: [createFileDiff(path, old, content)],
      });
    });
  },
});
