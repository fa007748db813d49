/**
 * Parses a patch in git format into one flat array of rows, which a virtual list can show. Everything in a patch is
 * hostile: names of files, and lines that look like headers. The line counts of a hunk decide what belongs to it.
 */
import { parseGitPath, removePrefix, splitGitPaths } from "./git-path.ts";

export interface PatchFile {
  /** The new path, or the old one of a deleted file. */
  readonly path: string;
  /** The previous path, if the file was moved or copied. */
  readonly from: string | undefined;
  readonly change: "added" | "modified" | "deleted" | "renamed" | "copied" | "unmerged";
  readonly additions: number;
  readonly deletions: number;
  /** The index of its first row, which has the kind `file`. */
  readonly row: number;
}

export interface PatchLine {
  readonly kind: "line";
  readonly file: number;
  readonly change: "context" | "added" | "removed";
  readonly oldLine: number | undefined;
  readonly newLine: number | undefined;
  readonly text: string;
  /** True for the last line of a file without a newline at its end. */
  readonly noNewline: boolean;
}

export type PatchRow =
  | { readonly kind: "file"; readonly file: number }
  | { readonly kind: "hunk"; readonly file: number; readonly text: string }
  | { readonly kind: "note"; readonly file: number; readonly text: string }
  | PatchLine;

export interface Patch {
  readonly files: readonly PatchFile[];
  readonly rows: readonly PatchRow[];
}

export function parsePatch(text: string): Patch {
  const parser = new PatchParser();
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    parser.addLine(text.slice(start, stop));
    start = stop + 1;
  }
  return parser.finish();
}

interface FileHeader {
  path: string;
  from: string | undefined;
  change: PatchFile["change"];
  additions: number;
  deletions: number;
  row: number;
  oldMode: string | undefined;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

class PatchParser {
  readonly #files: FileHeader[] = [];
  readonly #rows: PatchRow[] = [];
  #current: FileHeader | undefined;
  #oldLine = 0;
  #newLine = 0;
  #oldLeft = 0;
  #newLeft = 0;

  addLine(line: string): void {
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#addHunkLine(line);
    else if (line.startsWith("\\")) this.#markNoNewline();
    else if (line.startsWith("diff --git ")) this.#startFile(line.slice("diff --git ".length));
    else if (line.startsWith("* Unmerged path ")) this.#addUnmerged(line.slice("* Unmerged path ".length));
    else if (this.#current !== undefined) this.#addHeader(this.#current, line);
  }

  finish(): Patch {
    return { files: this.#files.map(({ oldMode: _, ...file }) => file), rows: this.#rows };
  }

  #startFile(names: string): void {
    const [old, path] = splitGitPaths(names);
    this.#addFile({ path, from: undefined, change: old === path ? "modified" : "renamed" });
  }

  #addUnmerged(name: string): void {
    this.#addFile({ path: parseGitPath(name), from: undefined, change: "unmerged" });
    this.#addNote("This file has conflicts that are not resolved.");
    this.#current = undefined;
  }

  #addFile(file: Pick<FileHeader, "path" | "from" | "change">): void {
    this.#current = { ...file, additions: 0, deletions: 0, row: this.#rows.length, oldMode: undefined };
    this.#files.push(this.#current);
    this.#rows.push({ kind: "file", file: this.#files.length - 1 });
  }

  #addHeader(file: FileHeader, line: string): void {
    const hunk = HUNK.exec(line);
    if (hunk !== null) return this.#startHunk(hunk, line);
    const value = (prefix: string): string | undefined =>
      line.startsWith(prefix) ? line.slice(prefix.length) : undefined;
    const movedFrom = value("rename from ") ?? value("copy from ");
    const movedTo = value("rename to ") ?? value("copy to ");
    const oldMode = value("old mode ");
    const newMode = value("new mode ");
    if (movedFrom !== undefined) {
      file.from = parseGitPath(movedFrom);
      file.change = line.startsWith("copy") ? "copied" : "renamed";
    } else if (movedTo !== undefined) file.path = parseGitPath(movedTo);
    else if (line.startsWith("new file mode ")) file.change = "added";
    else if (line.startsWith("deleted file mode ")) file.change = "deleted";
    else if (oldMode !== undefined) file.oldMode = oldMode;
    else if (newMode !== undefined) this.#addNote(`Mode ${file.oldMode ?? "unknown"} changed to ${newMode}`);
    else if (line.startsWith("Binary files ") || line === "GIT binary patch") this.#addNote("Binary file");
    else if (file.from === undefined) this.#readFileLine(file, line);
  }

  /** `--- a/path` and `+++ b/path`. A path with spaces has a tab after it, because other programs add a date there. */
  #readFileLine(file: FileHeader, line: string): void {
    const name = /^(?:--- |\+\+\+ )(.*?)\t?$/s.exec(line)?.[1];
    if (name === undefined || name === "/dev/null") return;
    file.path = removePrefix(parseGitPath(name));
  }

  #startHunk([, oldStart, oldCount = "1", newStart, newCount = "1"]: RegExpExecArray, line: string): void {
    this.#oldLine = Number(oldStart);
    this.#newLine = Number(newStart);
    this.#oldLeft = Number(oldCount);
    this.#newLeft = Number(newCount);
    this.#rows.push({ kind: "hunk", file: this.#files.length - 1, text: line });
  }

  #addHunkLine(line: string): void {
    const sign = line.charAt(0);
    const text = line.slice(1);
    if (sign === "\\") return this.#markNoNewline();
    if (sign === "+") {
      this.#newLeft -= 1;
      if (this.#current !== undefined) this.#current.additions += 1;
      return this.#push("added", undefined, this.#newLine++, text);
    }
    if (sign === "-") {
      this.#oldLeft -= 1;
      if (this.#current !== undefined) this.#current.deletions += 1;
      return this.#push("removed", this.#oldLine++, undefined, text);
    }
    this.#oldLeft -= 1; // also a line without its space: mail programs remove spaces at the end
    this.#newLeft -= 1;
    this.#push("context", this.#oldLine++, this.#newLine++, text);
  }

  #push(change: PatchLine["change"], oldLine: number | undefined, newLine: number | undefined, text: string): void {
    this.#rows.push({ kind: "line", file: this.#files.length - 1, change, oldLine, newLine, text, noNewline: false });
  }

  #markNoNewline(): void {
    const last = this.#rows.at(-1);
    if (last?.kind === "line") this.#rows[this.#rows.length - 1] = { ...last, noNewline: true };
  }

  #addNote(text: string): void {
    this.#rows.push({ kind: "note", file: this.#files.length - 1, text });
  }
}
