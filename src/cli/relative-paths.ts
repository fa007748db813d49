/** Shows paths inside the working directory of a session relative to it, as the built-in agent does. */
import type { FileDiff } from "../domain/events.ts";
import { trimEndOf } from "../stdx/trim.ts";

/** What may stand before and after a path in a title or a command. */
const BEFORE = "(?<![^\\s\"'`(\\[{<=:,;|&>])";
const AFTER = "[\\s\"'`)\\]}>,;|&:]";

/** Replaces whole paths only: `/a/b` is not found in `/x/a/b/c` or in `/a/bc`. */
export function shortenPaths(text: string, folder: string | undefined): string {
  if (folder === undefined || !/^\/./.test(folder) || !text.includes(folder)) return text;
  const root = trimEndOf(folder, "/");
  const pattern = new RegExp(`${BEFORE}${escapePattern(root)}(?:(/+)(?!${AFTER}|$)|/*(?=${AFTER}|$))`, "g");
  return text.replaceAll(pattern, (_, inside: string | undefined) => (inside === undefined ? "." : ""));
}

export function relativeDiffs(diffs: readonly FileDiff[], folder: string | undefined): readonly FileDiff[] {
  return diffs.map((diff) => ({ ...diff, path: shortenWholePath(diff.path, folder) }));
}

/**
 * Shortens the fields of a tool's input that are paths. A command stays as it is: a person decides on exactly what
 * would run.
 */
export function relativeInput(input: unknown, folder: string | undefined): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const fields = Object.entries(input).map(([name, value]): [string, unknown] => [
    name,
    typeof value === "string" && name !== "command" ? shortenWholePath(value, folder) : value,
  ]);
  return Object.fromEntries(fields);
}

/** Shortens a text that is a path and nothing else. The path may contain spaces. */
function shortenWholePath(path: string, folder = ""): string {
  const root = trimEndOf(folder, "/");
  if (root === "") return path;
  if (path === root) return ".";
  return path.startsWith(`${root}/`) && !path.includes("\n") ? path.slice(root.length + 1) : path;
}

/** Adds the path to a title that only names the tool, as opencode sends it: `read` becomes `read src/a.ts`. */
export function addLocation(title: string, path: string | undefined, folder: string | undefined): string {
  if (path === undefined || !/^\w+$/.test(title)) return title;
  const shown = shortenWholePath(path, folder);
  return shown === "." ? title : `${title} ${shown}`;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
