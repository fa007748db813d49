/** The changed files as the rows of a tree. Folders with a single folder inside are joined with it. */
import type { ChangedFile } from "../../../../src/domain/task/view.ts";

export type TreeRow =
  | { readonly kind: "folder"; readonly name: string; readonly depth: number }
  | { readonly kind: "file"; readonly name: string; readonly depth: number; readonly file: ChangedFile };

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: TreeFile[];
}

interface TreeFile {
  readonly name: string;
  readonly file: ChangedFile;
}

export function buildFileTree(files: readonly ChangedFile[]): TreeRow[] {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? file.path;
    let folder = root;
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, inner);
      folder = inner;
    }
    folder.files.push({ name, file });
  }
  return listFolder(root, 0);
}

/** Paths are at most 4096 bytes long on Linux, which bounds the depth. */
function listFolder({ folders, files }: Folder, depth: number): TreeRow[] {
  const inner = [...folders].sort(byName).flatMap(([name, folder]) => {
    const joined = joinSingleFolders(name, folder);
    return [{ kind: "folder" as const, name: joined.name, depth }, ...listFolder(joined.folder, depth + 1)];
  });
  const own = files.toSorted((a, b) => compareNames(a.name, b.name));
  return [...inner, ...own.map(({ name, file }): TreeRow => ({ kind: "file", name, depth, file }))];
}

function joinSingleFolders(name: string, folder: Folder): { readonly name: string; readonly folder: Folder } {
  let [joined, last] = [name, folder];
  while (last.files.length === 0 && last.folders.size === 1) {
    const [only] = last.folders;
    if (only === undefined) break;
    joined = `${joined}/${only[0]}`;
    last = only[1];
  }
  return { name: joined, folder: last };
}

const byName = ([a]: readonly [string, Folder], [b]: readonly [string, Folder]): number => compareNames(a, b);

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
