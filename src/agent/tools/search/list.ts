/** Shows what is in a folder as a tree. */
import { z } from "zod";
import { bounded } from "../text.ts";
import { LOOKING_MS, defineTool, ok, systemText } from "../tool.ts";
import { searchedFolder } from "./folder.ts";
import { treeOf } from "./tree.ts";

const DEFAULT_DEPTH = 2;
const MOST_ENTRIES = 1_000;

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: string[];
  /** Also in the folders within. */
  count: number;
}

export const list = defineTool({
  name: "list",
  description:
    "Show what is in a folder as a tree. Leaves out .git and what .gitignore names. Folders that are deeper than depth are shown with the number of their files.",
  kind: "read",
  readOnly: true,
  timeoutMs: LOOKING_MS,
  input: z.strictObject({
    path: systemText().optional().describe("a folder; the working folder if not said"),
    depth: z.int().positive().max(20).optional().describe(`${DEFAULT_DEPTH} if not said`),
    ignored: z.boolean().optional().describe("also what .gitignore leaves out"),
  }),
  describe: ({ path = "." }) => ({ title: `list ${path}`, locations: [{ path }] }),
  async run({ path = ".", depth = DEFAULT_DEPTH, ignored = false }, context) {
    const { real } = await searchedFolder(path, context);
    const { files, truncated } = await treeOf(real, { ignored }, context);
    const lines: string[] = [];
    const left = print(folderOf(files), depth, "", lines);
    if (lines.length === 0) return ok(`[${path} has no files${ignored ? "" : " but ignored ones, if any"}]`);
    if (left > 0) lines.push(`… ${left} more entries: give a folder within, or less depth`);
    if (truncated) lines.push("… there are more files than were looked at: give a folder within");
    return ok(bounded(lines.join("\n")));
  },
});

function folderOf(files: readonly string[]): Folder {
  const top: Folder = { folders: new Map(), files: [], count: 0 };
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

/** How many entries were left out. */
function print({ folders, files }: Folder, depth: number, indent: string, lines: string[]): number {
  let left = 0;
  const say = (name: string): void => {
    if (lines.length < MOST_ENTRIES) lines.push(indent + oneLine(name));
    else left += 1;
  };
  for (const [name, folder] of folders) {
    if (depth > 1) {
      say(`${name}/`);
      left += print(folder, depth - 1, `${indent}  `, lines);
    } else say(`${name}/ (${folder.count} ${folder.count === 1 ? "file" : "files"})`);
  }
  for (const name of files) say(name);
  return left;
}

/** A name may hold anything, line ends too. */
export function oneLine(name: string): string {
  return /[\p{Cc}\ufffd]/u.test(name) ? JSON.stringify(name) : name;
}
