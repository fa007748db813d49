/** The `list` tool: shows the files of a directory as a tree. */
import { z } from "zod";
import { truncateMiddle } from "../truncate.ts";
import { FILE_TIMEOUT_MS, defineTool, okResult, textWithoutNul } from "../tool.ts";
import { resolveSearchFolder } from "./search-folder.ts";
import { listFiles } from "./list-files.ts";

const DEFAULT_DEPTH = 2;
const MAX_ENTRIES = 1_000;

interface FolderNode {
  readonly folders: Map<string, FolderNode>;
  readonly files: string[];
  /** Number of files, including those in subdirectories. */
  count: number;
}

export const listTool = defineTool({
  name: "list",
  description:
    "Show the files of a directory as a tree. Skips .git and ignored files (.gitignore). A directory deeper than depth is shown with the number of its files.",
  kind: "read",
  readOnly: true,
  timeoutMs: FILE_TIMEOUT_MS,
  input: z.strictObject({
    path: textWithoutNul().optional().describe("a directory (default: the working directory)"),
    depth: z.int().positive().max(20).optional().describe(`levels to show (default: ${DEFAULT_DEPTH})`),
    ignored: z.boolean().optional().describe("include ignored files"),
  }),
  describe: ({ path = "." }) => ({ title: `list ${path}`, locations: [{ path }] }),
  async run({ path = ".", depth = DEFAULT_DEPTH, ignored = false }, context) {
    const { real } = await resolveSearchFolder(path, context);
    const { files, truncated } = await listFiles(real, { ignored }, context);
    const lines: string[] = [];
    const left = printFolder(buildFolderTree(files), depth, "", lines);
    if (lines.length === 0) return okResult(`[${path} has no files${ignored ? "" : ", except ignored ones if any"}]`);
    if (left > 0) lines.push(`… ${left} more entries: pass a subdirectory or a smaller depth`);
    if (truncated) lines.push("… there are too many files, and some were skipped: pass a subdirectory");
    return okResult(truncateMiddle(lines.join("\n")));
  },
});

function buildFolderTree(files: readonly string[]): FolderNode {
  const top: FolderNode = { folders: new Map(), files: [], count: 0 };
  for (const file of files) {
    const names = file.split("/");
    const name = names.pop() ?? "";
    let at = top;
    at.count += 1;
    for (const folder of names) {
      const next = at.folders.get(folder) ?? { folders: new Map(), files: [], count: 0 };
      at.folders.set(folder, next);
      at = next;
      at.count += 1;
    }
    at.files.push(name);
  }
  return top;
}

/** Prints the entries and returns the number of omitted ones. */
function printFolder({ folders, files }: FolderNode, depth: number, indent: string, lines: string[]): number {
  let left = 0;
  const addLine = (name: string): void => {
    if (lines.length < MAX_ENTRIES) lines.push(indent + quoteFileName(name));
    else left += 1;
  };
  for (const [name, folder] of folders) {
    if (depth > 1) {
      addLine(`${name}/`);
      left += printFolder(folder, depth - 1, `${indent}  `, lines);
    } else addLine(`${name}/ (${folder.count} ${folder.count === 1 ? "file" : "files"})`);
  }
  for (const name of files) addLine(name);
  return left;
}

/** Quotes a name with control characters, such as a line break. */
export function quoteFileName(name: string): string {
  return /[\p{Cc}\ufffd]/u.test(name) ? JSON.stringify(name) : name;
}
