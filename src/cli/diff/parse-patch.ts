/** Parses a patch as git prints it, so that it can be shown like the diff of an edit. */
import type { DiffHunk, DiffLine } from "../../stdx/line-diff.ts";

export interface PatchFile {
  readonly path: string;
  /** What happened to the file besides its lines, such as `new file` or `renamed from a.txt`. Empty if nothing did. */
  readonly kind: string;
  readonly isBinary: boolean;
  readonly hunks: readonly DiffHunk[];
}

/** The patch may end in the middle of a file. Lines that belong to no file are left out. */
export function parsePatch(patch: string): PatchFile[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: PatchFile[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const [, unmerged] = /^\* Unmerged path (.+)$/.exec(line) ?? [];
    if (unmerged !== undefined) files.push({ path: unquote(unmerged), kind: "not merged", isBinary: false, hunks: [] });
    if (!line.startsWith("diff --git ")) {
      at += 1;
      continue;
    }
    const header = parseHeader(lines, at);
    const { hunks, end } = parseHunks(lines, header.end);
    files.push({ path: header.path, kind: header.kind, isBinary: header.isBinary, hunks });
    at = end;
  }
  return files;
}

interface PatchHeader extends Omit<PatchFile, "hunks"> {
  /** The index of the first line after the header. */
  readonly end: number;
}

/** The lines before the first `@@` of a file. */
function parseHeader(lines: readonly string[], start: number): PatchHeader {
  const fields = new Map<string, string>();
  let isBinary = false;
  let end = start + 1;
  for (let line = lines[end]; line !== undefined && !/^(?:@@ |diff --git )/.test(line); line = lines[(end += 1)]) {
    const [, name = "", value = ""] = HEADER_FIELD.exec(line) ?? [];
    if (name !== "") fields.set(name, value);
    isBinary ||= /^(?:Binary files |GIT binary patch)/.test(line);
  }
  const to = fields.get("rename to") ?? fields.get("copy to");
  const named = [fields.get("+++"), fields.get("---")].find((name) => name !== undefined && name !== "/dev/null");
  const path =
    to !== undefined ? unquote(to) : named !== undefined ? withoutPrefix(named) : bothNames(lines[start] ?? "");
  return { path, kind: describeKind(fields), isBinary, end };
}

const HEADER_FIELD = /^(---|\+\+\+|(?:rename|copy) (?:from|to)|(?:old|new) mode|(?:new|deleted) file mode) (.*)$/;

function describeKind(fields: ReadonlyMap<string, string>): string {
  if (fields.has("new file mode")) return "new file";
  if (fields.has("deleted file mode")) return "deleted";
  const renamed = fields.get("rename from");
  const copied = fields.get("copy from");
  const moved = renamed !== undefined ? `renamed from ${unquote(renamed)}` : "";
  const kind = copied !== undefined ? `copied from ${unquote(copied)}` : moved;
  const mode = fields.get("new mode");
  const modes = mode === undefined ? "" : mode.endsWith("755") ? "now executable" : "mode changed";
  return [kind, modes].filter((part) => part !== "").join(", ");
}

function withoutPrefix(name: string): string {
  return unquote(name.replace(/\t$/, "")).slice("a/".length); // git ends a name that contains a space with a tab
}

/** The name in `diff --git a/NAME b/NAME`, which is the same twice if no other line has it. */
function bothNames(line: string): string {
  const names = line.slice("diff --git ".length);
  if (names.startsWith('"')) return unquote(/^"(?:[^"\\]|\\.)*"/.exec(names)?.[0] ?? names).slice("a/".length);
  return names.slice("a/".length, Math.ceil(names.length / 2) - 1);
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Reads as many lines as the heading of a hunk says, because a line of a file can look like a heading. */
function parseHunks(lines: readonly string[], start: number): { readonly hunks: DiffHunk[]; readonly end: number } {
  const hunks: DiffHunk[] = [];
  let at = start;
  for (let found = HUNK.exec(lines[at] ?? ""); found !== null; found = HUNK.exec(lines[at] ?? "")) {
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = found;
    let [oldLeft, newLeft] = [Number(oldCount), Number(newCount)];
    const changed: DiffLine[] = [];
    at += 1;
    for (let line = lines[at]; line !== undefined && (oldLeft > 0 || newLeft > 0 || line.startsWith("\\"));) {
      const last = changed.at(-1);
      const sign = line === "" ? " " : line.charAt(0); // some programs strip the space of an empty line
      if (sign === "\\" && last !== undefined) changed[changed.length - 1] = { ...last, line: last.line.slice(0, -1) };
      else if (sign === " " || sign === "-" || sign === "+") {
        if (sign !== "+") oldLeft -= 1;
        if (sign !== "-") newLeft -= 1;
        changed.push({ sign, line: `${line.slice(1)}\n` });
      } else break;
      line = lines[(at += 1)];
    }
    hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), lines: changed });
  }
  return { hunks, end: at };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** Decodes a name that git has quoted because it contains a quote, a backslash or a control character. */
function unquote(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  return name
    .slice(1, -1)
    .replaceAll(/(?:\\[0-7]{3})+/g, (bytes) =>
      Buffer.from(
        bytes
          .split("\\")
          .slice(1)
          .map((byte) => Number.parseInt(byte, 8)),
      ).toString("utf8"),
    )
    .replaceAll(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
