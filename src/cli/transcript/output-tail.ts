/** The end of a running tool's output, as a person sees it on a terminal. */
import { trimEndOf } from "../../stdx/trim.ts";
import { truncateToWidth } from "../display-width.ts";
import { stripHidden } from "../sanitize.ts";

/** Lines that are shown below a running tool. */
const TAIL_LINES = 5;
/** How many characters are kept for them. */
const TAIL_LENGTH = 4_000;
const TAB = "    ";

/** Appends output to the end of the output so far. */
export function addOutput(tail: string, text: string): string {
  return (tail + text.slice(-TAIL_LENGTH)).slice(-TAIL_LENGTH);
}

/** Returns the last lines, without control sequences. Of a line that overwrites itself, the last state counts. */
export function formatTail(tail: string, width: number, lines: number = TAIL_LINES): string[] {
  if (lines <= 0) return [];
  return removeSequences(tail)
    .split("\n")
    .map((line) => trimEndOf(line, "\r").split("\r").at(-1) ?? "")
    .map((line) => truncateToWidth(stripHidden(line.replaceAll("\t", TAB)).trimEnd(), width))
    .filter((line) => line !== "")
    .slice(-lines);
}

/** Removes ANSI control sequences, including one that is cut off at the start or incomplete. */
function removeSequences(text: string): string {
  return text.replaceAll(
    /\u001b(?:\[[0-?]*[ -/]*(?:[@-~]|$)|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-~]|$)/g,
    "",
  );
}
