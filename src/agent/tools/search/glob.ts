/** Finds files by a pattern of their paths. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { bounded } from "../text.ts";
import { LOOKING_MS, defineTool, ok, systemText } from "../tool.ts";
import { searchedFolder } from "./folder.ts";
import { oneLine } from "./list.ts";
import { matchingPaths, pathMatcher } from "./pattern.ts";
import { treeOf } from "./tree.ts";

const MOST_SHOWN = 500;
/** Their times are looked at one by one. */
const MOST_TIMED = 20_000;

export const glob = defineTool({
  name: "glob",
  description:
    "Find files by a pattern of their paths, such as src/**/*.{ts,tsx}. ** stands for any folders, * for a part of one name. Leaves out .git and what .gitignore names.",
  kind: "search",
  readOnly: true,
  timeoutMs: LOOKING_MS,
  input: z.strictObject({
    pattern: systemText(),
    path: systemText()
      .optional()
      .describe("the folder that the pattern is relative to; the working folder if not said"),
    sort: z.enum(["name", "newest"]).optional().describe("name if not said"),
    ignored: z.boolean().optional().describe("also what .gitignore leaves out"),
  }),
  describe: ({ pattern, path = "." }) => ({ title: `find ${pattern}`, locations: [{ path }] }),
  async run({ pattern, path = ".", sort = "name", ignored = false }, context) {
    const matches = pathMatcher(pattern);
    const { real, shown } = await searchedFolder(path, context);
    const { files, truncated } = await treeOf(real, { ignored }, context);
    const found = await matchingPaths(files, matches, context.signal);
    const sorted = sort === "newest" ? await newestFirst(real, found.slice(0, MOST_TIMED), context.signal) : found;
    const lines = sorted.slice(0, MOST_SHOWN).map((file) => oneLine(shown(file)));
    if (lines.length === 0) return ok(`no file matches ${pattern}`);
    if (found.length > MOST_SHOWN) lines.push(`… ${found.length - MOST_SHOWN} more files: make the pattern narrower`);
    if (truncated) lines.push("… there are more files than were looked at: give a folder within");
    return ok(bounded(lines.join("\n")));
  },
});

async function newestFirst(real: string, files: readonly string[], signal: AbortSignal): Promise<string[]> {
  const timed: { readonly file: string; readonly at: number }[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const found = await lstat(join(real, file)).catch(() => undefined);
    if (found !== undefined) timed.push({ file, at: found.mtimeMs });
  }
  return timed.sort((a, b) => b.at - a.at).map(({ file }) => file);
}
