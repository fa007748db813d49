/** The `write` tool: writes a complete file in the working directory. */
import { z } from "zod";
import { boundFileDiff } from "../../../domain/file-diff.ts";
import { confined, replaceConfined } from "../../../stdx/index.ts";
import { defineTool, okResult, textWithoutNul, wellFormedText, type PreviewContext } from "../tool.ts";
import { decodeUtf8, loadFile, type LoadedFile } from "./load-file.ts";
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
  async preview({ path, content }, context) {
    const { text } = await loadOldFile(await confined(context.folders, path), path, context);
    return { diffs: [boundFileDiff({ path, before: text, after: content })] };
  },
  async run({ path, content }, context) {
    const { folders, seen } = context;
    const real = await confined(folders, path);
    return runFileChange(real, async () => {
      const { text: old, stamp } = await loadOldFile(real, path, context);
      await replaceConfined(folders, path, content, { instead: stamp });
      const summary = `${old === null ? "wrote" : "replaced"} ${path} (${content.length} characters)`;
      return okResult(old === null ? summary : `${summary}\n${formatUnifiedDiff(old, content)}`, {
        ...seen.recordVersion(real, Buffer.from(content)),
        locations: [{ path }],
        diffs: [boundFileDiff({ path, before: old, after: content })],
      });
    });
  },
});

interface OldFile {
  /** Null if there is no file. */
  readonly text: string | null;
  readonly stamp: LoadedFile["stamp"] | null;
}

/** Rejects with a ToolRefusal if the file must not be replaced. */
async function loadOldFile(real: string, path: string, { seen }: Pick<PreviewContext, "seen">): Promise<OldFile> {
  const loaded = await loadFile(real, path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  if (loaded === null) return { text: null, stamp: null };
  const text = decodeUtf8(loaded.bytes, path);
  await seen.requireSeen(real, path, loaded.bytes);
  return { text, stamp: loaded.stamp };
}
