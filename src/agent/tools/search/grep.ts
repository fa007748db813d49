/** The `grep` tool: searches files with a regular expression. */
import { constants } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { confined, deadline, openPlain } from "../../../stdx/index.ts";
import { readUpTo } from "../files/load-file.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { truncateMiddle } from "../truncate.ts";
import { FILE_TIMEOUT_MS, defineTool, okResult, textWithoutNul, type CodingToolContext } from "../tool.ts";
import { resolveSearchFolder } from "./search-folder.ts";
import { RegExpWorker, type FileMatches } from "./regexp-worker.ts";
import { quoteFileName } from "./list-tool.ts";
import { filterPaths, createPathMatcher } from "./glob-pattern.ts";
import { SearchReport } from "./search-report.ts";
import { listFiles } from "./list-files.ts";

/** Shorter than the tool's timeout, so that matches found so far are returned. */
const SEARCH_MS = 30_000;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const HEAD_BYTES = 8_192;
const BATCH_LENGTH = 1024 * 1024;
const BATCH_FILES = 64;

interface TextFile {
  readonly path: string;
  readonly text: string;
}

export const grepTool = defineTool({
  name: "grep",
  description:
    "Search files with a JavaScript regular expression, line by line. Returns the matching lines with their numbers, or only the files, or the number of matching lines per file. Skips .git, ignored files (.gitignore), binary files and files over 5 MB.",
  kind: "search",
  readOnly: true,
  timeoutMs: FILE_TIMEOUT_MS,
  input: z.strictObject({
    pattern: z.string().min(1).describe("a regular expression without enclosing slashes"),
    path: textWithoutNul().optional().describe("a directory or a file (default: the working directory)"),
    include: textWithoutNul()
      .optional()
      .describe("search only matching files, such as *.ts (in any directory) or src/**/*.ts"),
    ignore_case: z.boolean().optional(),
    context: z.int().nonnegative().max(20).optional().describe("lines to show around each match (default: 0)"),
    output: z.enum(["lines", "files", "count"]).optional().describe("default: lines"),
    ignored: z.boolean().optional().describe("include ignored files"),
  }),
  describe: ({ pattern, path = "." }) => ({
    title: `search for ${pattern.slice(0, 200).toWellFormed()}`,
    locations: [{ path }],
  }),
  async run({ pattern, path = ".", include, ignore_case = false, ignored = false, ...options }, context) {
    const expression = parseRegExp(pattern, ignore_case);
    const isIncluded = include === undefined ? () => true : createIncludeFilter(include);
    const { real, files, displayPath, truncated } = await findFiles(path, ignored, context);
    const report = new SearchReport({ context: options.context ?? 0, output: options.output ?? "lines" });
    using limit = deadline(SEARCH_MS, context.signal);
    let isComplete = true;
    try {
      const includedFiles = await filterPaths(files, isIncluded, limit.signal);
      await searchFiles(real, includedFiles, { expression, report, displayPath, signal: limit.signal });
    } catch (error) {
      context.signal.throwIfAborted();
      if (!limit.signal.aborted) throw error;
      isComplete = false;
    }
    const more = truncated ? "\n… there are too many files, and some were skipped: pass a subdirectory" : "";
    if (isComplete) return okResult(truncateMiddle(`${report.text(`no matches for ${pattern}`)}${more}`));
    const timeout = `the search took longer than ${SEARCH_MS / 1000} seconds and was stopped: search fewer files or use a simpler pattern`;
    return { outcome: "timed_out", text: truncateMiddle(`${report.text("no matches so far")}\n… ${timeout}`) };
  },
});

function parseRegExp(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? "i" : "");
  } catch (error) {
    throw new ToolRefusal(`invalid regular expression: ${(error as Error).message}`);
  }
}

function createIncludeFilter(pattern: string): (path: string) => boolean {
  const matches = createPathMatcher(pattern);
  return pattern.includes("/") ? matches : (path) => matches(basename(path));
}

async function findFiles(path: string, ignored: boolean, context: CodingToolContext) {
  const real = await confined(context.folders, path);
  const found = await lstat(real).catch(() => undefined);
  if (found?.isFile() === true) {
    return { real: dirname(real), files: [basename(real)], displayPath: () => path, truncated: false };
  }
  const folder = await resolveSearchFolder(path, context);
  const { files, truncated } = await listFiles(folder.real, { ignored }, context);
  return { ...folder, files, truncated };
}

interface SearchOptions {
  readonly expression: RegExp;
  readonly report: SearchReport;
  readonly displayPath: (path: string) => string;
  readonly signal: AbortSignal;
}

/** Reads the next files while the worker searches the current ones. */
async function searchFiles(
  real: string,
  files: readonly string[],
  { expression, report, displayPath, signal }: SearchOptions,
) {
  await using worker = new RegExpWorker(expression);
  const batches = readBatches(real, files, signal);
  let searching: Promise<readonly FileMatches[]> | undefined;
  let searched: readonly TextFile[] = [];
  try {
    for await (const batch of batches) {
      const found = (await searching) ?? [];
      found.forEach((matches, at) => add(searched[at], matches));
      if (report.isFull) return;
      searched = batch;
      searching = worker.find(
        batch.map(({ text }) => text),
        report.remainingMatches,
        signal,
      );
      searching.catch(() => undefined); // handled when it is awaited
    }
    const found = (await searching) ?? [];
    found.forEach((matches, at) => add(searched[at], matches));
  } finally {
    await batches.return();
  }

  function add(file: TextFile | undefined, matches: FileMatches): void {
    if (file !== undefined && matches.count > 0) report.add(quoteFileName(displayPath(file.path)), file.text, matches);
  }
}

async function* readBatches(real: string, files: readonly string[], signal: AbortSignal) {
  let batch: TextFile[] = [];
  let length = 0;
  for (const path of files) {
    signal.throwIfAborted();
    const text = await readSearchText(join(real, path));
    if (text === undefined) continue;
    batch.push({ path, text });
    length += text.length;
    if (length < BATCH_LENGTH && batch.length < BATCH_FILES) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Returns undefined for a file that is not text, is too large, cannot be read or is gone. Follows no symlink. */
async function readSearchText(real: string): Promise<string | undefined> {
  const file = await openPlain(real, constants.O_RDONLY).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) return undefined;
    const bytes = await readUpTo(file, MAX_FILE_BYTES);
    return bytes.subarray(0, HEAD_BYTES).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
