/** What Codex runs, as a person would have typed it, and whether it can do nothing but read. */
import type { ToolKind } from "../../domain/index.ts";

/** The line that a shell is given, out of `/bin/bash -lc '…'`; the whole command where it is none of that. */
export function lineOf(command: string): string {
  const words = wordsOf(command);
  const [shell = "", flag = "", line] = words;
  const isShell = words.length === 3 && /(^|\/)(ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(flag);
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
  const programs = line.split("|").map((part) => part.trim());
  if (!programs.every(isReading)) return "execute";
  return SEARCHING.test(programs[0] ?? "") ? "search" : "read";
}

const SEARCHING = /^(ls|grep|rg)( |$)/;
const READING = /^(cat|head|tail|ls|pwd|wc|nl|grep|stat)( |$)/;
/** It can be told to run another program for what it searches. */
const SEARCHING_FILES = /^rg (?!.*--?(pre|hostname-bin|search-zip|z))/;
const SOME_LINES = /^sed -n ['"]?\d+(,\d+)?p['"]?( [\w./-]+)?$/;

function isReading(part: string): boolean {
  return READING.test(part) || SEARCHING_FILES.test(part) || SOME_LINES.test(part);
}
