/** `rookery task diff`: what a task changed, committed or not. */
import type { ChangedFile, TaskDiff } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { columns, count } from "../format.ts";
import { hasColour, type Io, print, printJson, say } from "../io.ts";
import { isSet } from "../options.ts";
import { coloured, type Paint, plain } from "../paint.ts";
import { printable } from "../printable.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";

export async function printDiff({ io, args: [named = ""], options }: Call, { tasks }: TaskDoor): Promise<ExitCode> {
  const [form, other] = (["stat", "json", "nameOnly"] as const).filter((name) => isSet(options, name));
  if (other !== undefined) throw usage("--stat, --json and --name-only are three forms: choose one");
  const { id } = await findTask(tasks, named);
  const diff = await tasks.diff(id, { patch: form === undefined || form === "json" });
  switch (form) {
    case "json":
      await printJson(io, diff);
      break;
    case "stat":
      await print(io, statOf(diff, hasColour(io) ? coloured : plain));
      break;
    case "nameOnly":
      await print(io, diff.files.map(({ path }) => `${forReader(io, path)}\n`).join(""));
      break;
    case undefined:
      await print(io, hasColour(io) ? inColour(printable(diff.patch ?? "")) : forReader(io, diff.patch ?? ""));
      if (diff.truncated)
        say(io, `the diff of ${id} is too large to be shown whole; see --stat, or use git in its worktree`);
  }
  return EXIT.done;
}

/** A program gets it as git gave it, so that it can be applied; a terminal gets nothing that it would act on. */
function forReader({ stdout }: Io, text: string): string {
  return stdout.isTTY === true ? printable(text) : text;
}

/** Before the first `@@` of a file stands what is of git itself; a line that was removed may look the same. */
function inColour(patch: string): string {
  let inHunk = false;
  const painted = patch.split("\n").map((line) => {
    if (line.startsWith("diff ")) inHunk = false;
    if (line.startsWith("@@")) {
      inHunk = true;
      return coloured("dim", line);
    }
    if (!inHunk) return line === "" ? line : coloured("bold", line);
    if (line.startsWith("+")) return coloured("green", line);
    return line.startsWith("-") ? coloured("red", line) : line;
  });
  return painted.join("\n");
}

function statOf(diff: TaskDiff, paint: Paint): string {
  const rows = diff.files.map((file) => [file.change, nameOf(file), ...countsOf(file)]);
  const files = `${count(diff.files.length)} ${diff.files.length === 1 ? "file" : "files"}`;
  const sum = [
    files,
    paint("green", `+${count(diff.additions)}`),
    paint("red", `-${count(diff.deletions)}`),
    `${count(diff.commits.length)} ${diff.commits.length === 1 ? "commit" : "commits"}`,
    ...(diff.uncommitted ? ["some of it is not committed"] : []),
  ];
  return `${columns(rows)}${sum.join(" · ")}\n`;
}

function nameOf({ path, from }: ChangedFile): string {
  const name = printable(path);
  return from === undefined ? name : `${printable(from)} → ${name}`;
}

function countsOf({ binary, additions = 0, deletions = 0 }: ChangedFile): string[] {
  return binary ? ["binary"] : [`+${count(additions)}`, `-${count(deletions)}`];
}
