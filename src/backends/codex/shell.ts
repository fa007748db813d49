/** Extracts the shell line of a Codex command, and decides whether it can only read. */
import type { ToolKind } from "../../domain/index.ts";

/** Only by name or in system folders: the model chooses the shell, and one in the repository may do anything. */
const SHELL = /^(?:(?:\/usr(?:\/local)?|\/opt\/homebrew|\/run\/current-system\/sw)?\/bin\/)?(?:ba|da|z)?sh$/;

/** Returns the line inside `/bin/bash -lc '…'`, or the whole command if it has another form. */
export function extractShellLine(command: string): string {
  const words = splitShellWords(command);
  const [shell = "", flag = "", line] = words;
  const isShell = words.length === 3 && SHELL.test(shell) && /^-l?c$/.test(flag);
  return isShell && line !== undefined ? line : command;
}

/** Splits a command as a POSIX shell does, without expansions. */
function splitShellWords(command: string): string[] {
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
 * Codex classifies commands only for display: 0.166.0 treats `cat a | tee b` as reading. Therefore only these programs
 * count as reading, in lines without characters that a shell acts upon.
 */
export function classifyShellLine(line: string): ToolKind {
  if (/[^\w\s@%+=:,./*?~^"'|-]|[\r\n]/.test(line)) return "execute";
  const programs = splitPipeline(line);
  if (programs?.every(isReadingProgram) !== true) return "execute";
  return SEARCHING.test(programs[0] ?? "") ? "search" : "read";
}

/** Splits at pipes. Returns undefined if a quote is not closed. */
function splitPipeline(line: string): string[] | undefined {
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
/** Options that make ripgrep run another program. A glob may expand to a file name that is such an option. */
const RUNS_ANOTHER = /^(?:--(?:pre|hostname-bin|search-zip)|-\w*z|[*?])/;
const SOME_LINES = /^sed -n ['"]?\d+(,\d+)?p['"]?( [\w./][\w./-]*)?$/;

function isReadingProgram(part: string): boolean {
  return READING.test(part) || SOME_LINES.test(part) || isSafeRipgrep(part);
}

function isSafeRipgrep(part: string): boolean {
  const [program, ...words] = splitShellWords(part);
  return program === "rg" && !words.some((word) => RUNS_ANOTHER.test(word));
}
