/** `rookery task merge`: brings what a task did into a branch, or says beforehand what would happen. */
import { MERGE_METHODS } from "../../domain/enums.ts";
import type { MergeReport, MergeTask } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { count } from "../format.ts";
import { asTyped, type Io, isLively, print, printJson, say } from "../io.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { oneLine, visible } from "../printable.ts";
import type { Spinner } from "../run/spinner.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { whileShown } from "./shown.ts";
import { isTaskEvent, shortCommit } from "./words.ts";

export async function mergeTask({ io, args: [named = ""], options }: Call, door: TaskDoor): Promise<ExitCode> {
  const { tasks } = door;
  const wanted = wantedIn(options);
  const { id } = await findTask(tasks, named);
  using _leaving = isSet(options, "dryRun") ? undefined : watchLeaving(io, id, door.server);
  const report = isSet(options, "dryRun")
    ? await whileShown(io, `looking at how ${id} would merge`, () => tasks.predictMerge(id, wanted))
    : await whileShown(io, `merging ${id}`, (spinner) =>
        isLively(io.stderr, io.env)
          ? withProgress(door, id, spinner, () => tasks.merge(id, wanted))
          : tasks.merge(id, wanted),
      );
  if (isSet(options, "json")) await printJson(io, report);
  else await print(io, asTyped(io, `${linesOf(id, report).join("\n")}\n`));
  return report.outcome === "merged" || report.outcome === "nothing" ? EXIT.done : EXIT.failed;
}

/** Ctrl-C ends this command; a merge that was asked for is in the log by then, and is not forgotten. */
function watchLeaving(io: Io, id: string, server: string | undefined): Disposable {
  const leave = (): void => {
    io.stderr.write("\n");
    const goesOn =
      server === undefined
        ? `the merge of ${id} is not done; whoever runs tasks next goes on with it`
        : `the server goes on with the merge of ${id}; see how it went`;
    say(io, `${goesOn}: rookery task show ${id}`);
    process.exit(EXIT.cancelled); // what the gate started is swept at the next start
  };
  process.on("SIGINT", leave);
  return { [Symbol.dispose]: () => void process.off("SIGINT", leave) };
}

function wantedIn(options: Call["options"]): MergeTask {
  const gate = textOption(options, "gate");
  if (gate !== undefined && isSet(options, "noGate")) throw usage("--gate and --no-gate exclude each other");
  return {
    how: choiceOption(options, "how", MERGE_METHODS),
    into: textOption(options, "into"),
    gate: isSet(options, "noGate") ? false : gate,
    message: textOption(options, "message"),
  };
}

/** What the gate prints, its last line at a time, until the merge is done. */
async function withProgress<T>(door: TaskDoor, id: string, spinner: Spinner, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const after = await door.head();
  const follow = async (): Promise<void> => {
    for await (const { event } of door.tasks.follow({ task: id, after, signal: stop.signal })) {
      if (!isTaskEvent(event) || event.type !== "output.text") continue;
      const last = event.text.trimEnd().split("\n").at(-1) ?? "";
      spinner.wait(`merging ${id}: ${event.from}: ${last}`);
    }
  };
  const following = follow().catch(() => undefined); // progress is no part of the merge
  try {
    return await work();
  } finally {
    stop.abort();
    await following;
  }
}

function linesOf(
  id: string,
  { outcome, how, into, dryRun, commit, commits, conflicts, message }: MergeReport,
): string[] {
  const branch = visible(into);
  const what = `${count(commits)} ${commits === 1 ? "commit" : "commits"}`;
  const why = message === undefined ? "" : `: ${oneLine(message)}`;
  switch (outcome) {
    case "merged":
      if (dryRun) return [`${id} would merge into ${branch} without conflicts (${how}, ${what}); nothing was changed`];
      return [
        `merged ${id} into ${branch} (${how}, ${what}${commit === undefined ? "" : `, now ${shortCommit(commit)}`}); ` +
          `its worktree is not needed any more: rookery task remove ${id}`,
      ];
    case "nothing":
      return [`${id} has nothing that ${branch} does not have`];
    case "conflicts":
      return [
        `${id} ${dryRun ? "would conflict" : "conflicts"} with ${branch} in ${count(conflicts.length)} ${conflicts.length === 1 ? "file" : "files"}; nothing was changed:`,
        ...conflicts.map((file) => `  ${visible(file)}`),
        `let its agent mend it: rookery task resume ${id} "Merge ${branch} into your branch and resolve the conflicts"`,
      ];
    case "gate_failed":
      return [
        `the gate did not pass, so ${id} was not merged into ${branch}${why}; its output: rookery task logs ${id}`,
      ];
    case "failed":
      return [`${id} could not be merged into ${branch}${why}`];
  }
}
