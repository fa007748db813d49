/**
 * The documents of the repository, split into the parts that tests check: code spans, fenced blocks, links and
 * headings.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Document {
  readonly path: string;
  readonly text: string;
  readonly spans: readonly Span[];
  readonly fences: readonly Fence[];
  readonly links: readonly Link[];
  readonly anchors: ReadonlySet<string>;
}

/** Inline code. */
export interface Span {
  readonly text: string;
  readonly line: number;
}

export interface Fence {
  /** The first word of the info string, such as `sh`. */
  readonly language: string;
  /** The rest of it, such as `skip="needs a key"`. */
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** Every file that git tracks, or would if it were added. */
export function repositoryFiles(): readonly string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const output = execFileSync("git", list, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return [...new Set(output.split("\0").filter((file) => file !== ""))];
}

export function readDocuments(files: readonly string[] = repositoryFiles()): readonly Document[] {
  return files
    .filter((file) => file.endsWith(".md") && (/^(docs|\.github)\//.test(file) || !file.includes("/")))
    .map((path) => parseDocument(path, readFileSync(`${ROOT}${path}`, "utf8")));
}

export function isGenerated({ path }: Document): boolean {
  return path.startsWith("docs/reference/");
}

export function isDecision({ path }: Document): boolean {
  return path.startsWith("docs/adr/");
}

export function parseDocument(path: string, text: string): Document {
  const spans: Span[] = [];
  const fences: Fence[] = [];
  const links: Link[] = [];
  const anchors = new Set<string>();
  let open: { fence: string; language: string; info: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const mark = /^\s*(`{3,})\s*([\w-]*)\s*(.*)$/.exec(line);
    if (open !== undefined) {
      if (mark?.[1] === open.fence && mark[2] === "") {
        fences.push({ language: open.language, info: open.info, line: open.line, text: dedent(open.lines) });
        open = undefined;
      } else open.lines.push(line);
      continue;
    }
    if (mark !== null) {
      open = { fence: mark[1]!, language: mark[2]!, info: mark[3]!, line: index + 1, lines: [] };
      continue;
    }
    const heading = /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) anchors.add(anchorOf(heading, anchors));
    for (const found of line.matchAll(/(`+)(.+?)\1(?!`)/g)) {
      spans.push({ text: found[2]!.trim().replaceAll("\\|", "|"), line: index + 1 });
    }
    const plain = line.replaceAll(/(`+).+?\1(?!`)/g, (code) => "x".repeat(code.length));
    for (const found of plain.matchAll(/\]\(([^)\s]+)\)/g)) links.push({ target: found[1]!, line: index + 1 });
  }
  return { path, text, spans, fences, links, anchors };
}

/** The anchor that GitHub generates for a heading. */
function anchorOf(heading: string, taken: ReadonlySet<string>): string {
  const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
  for (let count = 0; ; count += 1) {
    const anchor = count === 0 ? slug : `${slug}-${count}`;
    if (!taken.has(anchor)) return anchor;
  }
}

function dedent(lines: readonly string[]): string {
  const indent = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0)).join("\n");
}
