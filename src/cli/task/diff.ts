/** `rookery task diff`: prints the changes of a task, committed or not. */
import type { ChangedFile, TaskDiff } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { formatColumns, formatCount } from "../format.ts";
import { formatPatch } from "../diff/format-patch.ts";
import { openPager } from "../diff/pager.ts";
import { hasColor, type Io, isPersonPresent, print, printJson, printNotice } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { stripControls } from "../sanitize.ts";
import type { TaskService } from "./service.ts";
import { findNamedOrNewestTask } from "./find.ts";
import { terminalSize } from "./terminal-size.ts";

export async function taskDiffCommand(
  { io, args: [named], options }: CommandCall,
  { tasks }: TaskService,
): Promise<ExitCode> {
  const [form, other] = (["stat", "json", "nameOnly"] as const).filter((name) => isSet(options, name));
  if (other !== undefined) throw usageError("--stat, --json and --name-only cannot be combined: choose one");
  const { id } = await findNamedOrNewestTask(tasks, named, io, "rookery task diff");
  const diff = await tasks.diff(id, { patch: form === undefined || form === "json" });
  switch (form) {
    case "json":
      await printJson(io, diff);
      break;
    case "stat":
      await print(io, formatDiffStat(diff, hasColor(io) ? ansiPaint : plainPaint));
      break;
    case "nameOnly":
      await print(io, diff.files.map(({ path }) => `${forStdout(io, path)}\n`).join(""));
      break;
    case undefined:
      await printPatch(io, diff.patch ?? "");
      if (diff.truncated)
        printNotice(io, `the diff of ${id} is too large to show completely; use --stat, or git in its worktree`);
  }
  return EXIT.done;
}

/** Keeps git's exact output for pipes, so that it can be applied, and strips control characters for a terminal. */
function forStdout({ stdout }: Io, text: string): string {
  return stdout.isTTY === true ? stripControls(text) : text;
}

/** Prints the exact patch to a pipe. On a terminal, shows it like the diff of an edit, in the pager if it is long. */
async function printPatch(io: Io, patch: string): Promise<void> {
  const { stdout } = io;
  if (stdout.isTTY !== true) return print(io, patch);
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const { width, height } = terminalSize(stdout);
  const lines = formatPatch(patch, { paint, columns: width });
  if (hasColor(io) && isPersonPresent(io) && lines.length >= height) {
    return openPager(io, `${formatPatch(patch, { paint }).join("\n")}\n`, new AbortController().signal);
  }
  await print(io, lines.map((line) => `${line}\n`).join(""));
}

function formatDiffStat(diff: TaskDiff, paint: Paint): string {
  const rows = diff.files.map((file) => [file.change, formatFileName(file), ...formatLineCounts(file)]);
  const files = `${formatCount(diff.files.length)} ${diff.files.length === 1 ? "file" : "files"}`;
  const sum = [
    files,
    paint("green", `+${formatCount(diff.additions)}`),
    paint("red", `-${formatCount(diff.deletions)}`),
    `${formatCount(diff.commits.length)} ${diff.commits.length === 1 ? "commit" : "commits"}`,
    ...(diff.uncommitted ? ["includes uncommitted changes"] : []),
  ];
  return `${formatColumns(rows)}${sum.join(" · ")}\n`;
}

function formatFileName({ path, from }: ChangedFile): string {
  const name = stripControls(path);
  return from === undefined ? name : `${stripControls(from)} → ${name}`;
}

function formatLineCounts({ binary, additions = 0, deletions = 0 }: ChangedFile): string[] {
  return binary ? ["binary"] : [`+${formatCount(additions)}`, `-${formatCount(deletions)}`];
}
