/** Searches the texts of files for a regular expression. */
import { constants } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { confined, deadline, openPlain } from "../../../stdx/index.ts";
import { readAtMost } from "../files/load.ts";
import { bounded } from "../text.ts";
import { LOOKING_MS, ToolRefusal, defineTool, ok, systemText, type CallContext } from "../tool.ts";
import { searchedFolder } from "./folder.ts";
import { Matching, type Matches } from "./matching.ts";
import { oneLine } from "./list.ts";
import { matchingPaths, pathMatcher } from "./pattern.ts";
import { Report } from "./report.ts";
import { treeOf } from "./tree.ts";

/** Less than the tool itself has, so that what was found until then is told. */
const SEARCH_MS = 30_000;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const HEAD_BYTES = 8_192;
const BATCH_LENGTH = 1024 * 1024;
const BATCH_FILES = 64;

interface TextFile {
  readonly path: string;
  readonly text: string;
}

export const grep = defineTool({
  name: "grep",
  description:
    "Search the texts of files with a JavaScript regular expression, line by line. Gives the lines that match with their numbers, or only the files, or how many lines match in each. Leaves out .git, what .gitignore names, binary files and files over 5 MB.",
  kind: "search",
  readOnly: true,
  timeoutMs: LOOKING_MS,
  input: z.strictObject({
    pattern: z.string().min(1).describe("a regular expression without slashes around it"),
    path: systemText().optional().describe("a folder or a file; the working folder if not said"),
    include: systemText().optional().describe("only files that match, such as *.ts (in any folder) or src/**/*.ts"),
    ignore_case: z.boolean().optional(),
    context: z.int().nonnegative().max(20).optional().describe("lines to show around each match; 0 if not said"),
    output: z.enum(["lines", "files", "count"]).optional().describe("lines if not said"),
    ignored: z.boolean().optional().describe("also what .gitignore leaves out"),
  }),
  describe: ({ pattern, path = "." }) => ({
    title: `search for ${pattern.slice(0, 200).toWellFormed()}`,
    locations: [{ path }],
  }),
  async run({ pattern, path = ".", include, ignore_case = false, ignored = false, ...how }, context) {
    const expression = expressionOf(pattern, ignore_case);
    const fits = include === undefined ? () => true : included(include);
    const { real, files, shown, truncated } = await filesAt(path, ignored, context);
    const report = new Report({ context: how.context ?? 0, output: how.output ?? "lines" });
    using enough = deadline(SEARCH_MS, context.signal);
    let ended = true;
    try {
      const wanted = await matchingPaths(files, fits, enough.signal);
      await search(real, wanted, { expression, report, shown, signal: enough.signal });
    } catch (error) {
      context.signal.throwIfAborted();
      if (!enough.signal.aborted) throw error;
      ended = false;
    }
    const more = truncated ? "\n… there are more files than were looked at: give a folder within" : "";
    if (ended) return ok(bounded(`${report.text(`nothing matches ${pattern}`)}${more}`));
    const late = `the search took longer than ${SEARCH_MS / 1000} seconds and was ended: search less, or more simply`;
    return { outcome: "timed_out", text: bounded(`${report.text("nothing was found until then")}\n… ${late}`) };
  },
});

function expressionOf(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? "i" : "");
  } catch (error) {
    throw new ToolRefusal(`that is no regular expression: ${(error as Error).message}`);
  }
}

function included(pattern: string): (path: string) => boolean {
  const matches = pathMatcher(pattern);
  return pattern.includes("/") ? matches : (path) => matches(basename(path));
}

async function filesAt(path: string, ignored: boolean, context: CallContext) {
  const real = await confined(context.folders, path);
  const found = await lstat(real).catch(() => undefined);
  if (found?.isFile() === true) {
    return { real: dirname(real), files: [basename(real)], shown: () => path, truncated: false };
  }
  const folder = await searchedFolder(path, context);
  const { files, truncated } = await treeOf(folder.real, { ignored }, context);
  return { ...folder, files, truncated };
}

interface Search {
  readonly expression: RegExp;
  readonly report: Report;
  readonly shown: (path: string) => string;
  readonly signal: AbortSignal;
}

/** The next files are read while the thread looks at these. */
async function search(real: string, files: readonly string[], { expression, report, shown, signal }: Search) {
  await using matching = new Matching(expression);
  const batches = batchesOf(real, files, signal);
  let looking: Promise<readonly Matches[]> | undefined;
  let looked: readonly TextFile[] = [];
  try {
    for await (const batch of batches) {
      const found = (await looking) ?? [];
      found.forEach((matches, at) => add(looked[at], matches));
      if (report.isFull) return;
      looked = batch;
      looking = matching.find(
        batch.map(({ text }) => text),
        report.room,
        signal,
      );
      looking.catch(() => undefined); // told where it is awaited
    }
    const found = (await looking) ?? [];
    found.forEach((matches, at) => add(looked[at], matches));
  } finally {
    await batches.return();
  }

  function add(file: TextFile | undefined, matches: Matches): void {
    if (file !== undefined && matches.count > 0) report.add(oneLine(shown(file.path)), file.text, matches);
  }
}

async function* batchesOf(real: string, files: readonly string[], signal: AbortSignal) {
  let batch: TextFile[] = [];
  let length = 0;
  for (const path of files) {
    signal.throwIfAborted();
    const text = await textOf(join(real, path));
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

/** Undefined for what is no text, is too large, may not be read or is gone; a link is left alone. */
async function textOf(real: string): Promise<string | undefined> {
  const file = await openPlain(real, constants.O_RDONLY).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) return undefined;
    const bytes = await readAtMost(file, MAX_FILE_BYTES);
    return bytes.subarray(0, HEAD_BYTES).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
