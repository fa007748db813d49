/** What Codex runs, as a person would have typed it, and whether it can do nothing but read. */
import type { ToolKind } from "../../domain/index.ts";

/** By its name, or where systems have theirs: the model chooses the shell, and one in the repository may do anything. */
const SHELL = /^(?:(?:\/usr(?:\/local)?|\/opt\/homebrew|\/run\/current-system\/sw)?\/bin\/)?(?:ba|da|z)?sh$/;

/** The line that a shell is given, out of `/bin/bash -lc '…'`; the whole command where it is none of that. */
export function lineOf(command: string): string {
  const words = wordsOf(command);
  const [shell = "", flag = "", line] = words;
  const isShell = words.length === 3 && SHELL.test(shell) && /^-l?c$/.test(flag);
  return isShell && line !== undefined ? line : command;
}

/** As a POSIX shell would read them, without filling anything in. */
function wordsOf(command: string): string[] {
  const pieces = command.matchAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|(\s+)|([^\s'"\\]+)/g);
  const words: string[] = [];
  let word: string | undefined;
  for (const [, single, double, escaped, space, plain] of pieces) {
    if (space === undefined)
      word = (word ?? "") + (single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "");
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/**
 * Codex says itself what it takes a command for, but only for showing it (0.166.0 takes `cat a | tee b` for reading). So
 * only what cannot be anything else counts here: these programs, with nothing in the line that a shell would act upon.
 */
export function kindOfLine(line: string): ToolKind {
  if (/[^\w\s@%+=:,./*?~^"'|-]|[\r\n]/.test(line)) return "execute";
  const programs = programsIn(line);
  if (programs?.every(isReading) !== true) return "execute";
  return SEARCHING.test(programs[0] ?? "") ? "search" : "read";
}

/** What stands between pipes; undefined where a quote is never closed. */
function programsIn(line: string): string[] | undefined {
  const programs = [""];
  for (const [piece, , pipe, stray] of line.matchAll(/('[^']*'|"[^"]*"|[^'"|]+)|(\|)|(['"])/g)) {
    if (stray !== undefined) return undefined;
    if (pipe !== undefined) programs.push("");
    else programs.push(`${programs.pop() ?? ""}${piece}`);
  }
  return programs.map((program) => program.trim());
}

const SEARCHING = /^(ls|grep|rg)( |$)/;
const READING = /^(cat|head|tail|ls|pwd|wc|nl|grep|stat)( |$)/;
/** Ripgrep can be told to run another program for what it searches, also by the name of a file that a pattern fills in. */
const RUNS_ANOTHER = /^(?:--(?:pre|hostname-bin|search-zip)|-\w*z|[*?])/;
const SOME_LINES = /^sed -n ['"]?\d+(,\d+)?p['"]?( [\w./][\w./-]*)?$/;

function isReading(part: string): boolean {
  return READING.test(part) || SOME_LINES.test(part) || isSearching(part);
}

function isSearching(part: string): boolean {
  const [program, ...words] = wordsOf(part);
  return program === "rg" && !words.some((word) => RUNS_ANOTHER.test(word));
}
