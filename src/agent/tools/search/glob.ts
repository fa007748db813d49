/** The `glob` tool: finds files by a pattern for their paths. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { truncateMiddle } from "../truncate.ts";
import { FILE_TIMEOUT_MS, defineTool, okResult, textWithoutNul } from "../tool.ts";
import { resolveSearchFolder } from "./search-folder.ts";
import { quoteFileName } from "./list-tool.ts";
import { filterPaths, createPathMatcher } from "./glob-pattern.ts";
import { listFiles } from "./list-files.ts";

const MAX_RESULTS = 500;
/** Maximum number of files to sort by time; each needs a system call. */
const MAX_SORTED = 20_000;

export const globTool = defineTool({
  name: "glob",
  description:
    "Find files by a pattern for their paths, such as src/**/*.{ts,tsx}. ** matches any directories, * matches within one name. Skips .git and ignored files (.gitignore).",
  kind: "search",
  readOnly: true,
  timeoutMs: FILE_TIMEOUT_MS,
  input: z.strictObject({
    pattern: textWithoutNul(),
    path: textWithoutNul()
      .optional()
      .describe("the directory that the pattern is relative to (default: the working directory)"),
    sort: z.enum(["name", "newest"]).optional().describe("default: name"),
    ignored: z.boolean().optional().describe("include ignored files"),
  }),
  describe: ({ pattern, path = "." }) => ({ title: `find ${pattern}`, locations: [{ path }] }),
  async run({ pattern, path = ".", sort = "name", ignored = false }, context) {
    const matches = createPathMatcher(pattern);
    const { real, displayPath } = await resolveSearchFolder(path, context);
    const { files, truncated } = await listFiles(real, { ignored }, context);
    const found = await filterPaths(files, matches, context.signal);
    const sorted = sort === "newest" ? await sortNewestFirst(real, found.slice(0, MAX_SORTED), context.signal) : found;
    const lines = sorted.slice(0, MAX_RESULTS).map((file) => quoteFileName(displayPath(file)));
    if (lines.length === 0) return okResult(`no file matches ${pattern}`);
    if (found.length > MAX_RESULTS) lines.push(`… ${found.length - MAX_RESULTS} more files: use a narrower pattern`);
    if (truncated) lines.push("… there are too many files, and some were skipped: pass a subdirectory");
    return okResult(truncateMiddle(lines.join("\n")));
  },
});

async function sortNewestFirst(real: string, files: readonly string[], signal: AbortSignal): Promise<string[]> {
  const timed: { readonly file: string; readonly at: number }[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const found = await lstat(join(real, file)).catch(() => undefined);
    if (found !== undefined) timed.push({ file, at: found.mtimeMs });
  }
  return timed.sort((a, b) => b.at - a.at).map(({ file }) => file);
}
