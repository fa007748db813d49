/** `rookery task merge`: merges the changes of a task into a branch, or predicts the result. */
import { MERGE_METHODS } from "../../domain/enums.ts";
import type { MergeReport, MergeTask, TaskView } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { formatCount } from "../format.ts";
import { type Io, isInteractive, printJson, printNotice, printText } from "../io.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";
import type { Spinner } from "../run/spinner.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { withSpinner } from "./progress.ts";
import { isTaskEvent, shortCommit } from "./messages.ts";

export async function mergeTaskCommand(
  { io, args: [named = ""], options }: CommandCall,
  service: TaskService,
): Promise<ExitCode> {
  const { tasks } = service;
  const wanted = parseMergeOptions(options);
  const task = await findTask(tasks, named, io);
  const { id } = task;
  using _leaving = isSet(options, "dryRun") ? undefined : exitOnInterrupt(io, id, service.server);
  const report = isSet(options, "dryRun")
    ? await withSpinner(io, `checking how ${id} would merge`, async () =>
        rememberMerge(await tasks.predictMerge(id, wanted), task),
      )
    : await withSpinner(io, `merging ${id}`, (spinner) =>
        isInteractive(io.stderr, io.env)
          ? withProgress(service, id, spinner, () => tasks.merge(id, wanted))
          : tasks.merge(id, wanted),
      );
  if (isSet(options, "json")) await printJson(io, report);
  else await printText(io, `${formatMergeReport(id, report).join("\n")}\n`);
  const canSucceed = report.outcome === "nothing" || (report.outcome === "merged" && !wouldOverwriteChanges(report));
  return canSucceed ? EXIT.done : EXIT.failed;
}

/** Ctrl-C ends this command. The requested merge is already in the log, so it is not lost. */
function exitOnInterrupt(io: Io, id: string, server: string | undefined): Disposable {
  const leave = (): void => {
    io.stderr.write("\n");
    const goesOn =
      server === undefined
        ? `the merge of ${id} is not complete; the next process that runs tasks continues it`
        : `the server continues the merge of ${id}; see the result`;
    printNotice(io, `${goesOn}: rookery task show ${id}`);
    process.exit(EXIT.cancelled); // the next start ends the processes of the gate
  };
  process.on("SIGINT", leave);
  return { [Symbol.dispose]: () => void process.off("SIGINT", leave) };
}

function parseMergeOptions(options: CommandCall["options"]): MergeTask {
  const gate = textOption(options, "gate");
  if (gate !== undefined && isSet(options, "noGate")) throw usageError("--gate and --no-gate cannot be combined");
  return {
    how: choiceOption(options, "how", MERGE_METHODS),
    into: textOption(options, "into"),
    gate: isSet(options, "noGate") ? false : gate,
    message: textOption(options, "message"),
  };
}

/** Shows the last output line of the gate until the merge is done. */
async function withProgress<T>(service: TaskService, id: string, spinner: Spinner, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const after = await service.head();
  const follow = async (): Promise<void> => {
    for await (const { event } of service.tasks.follow({ task: id, after, signal: stop.signal })) {
      if (!isTaskEvent(event) || event.type !== "output.text") continue;
      const last = event.text.trimEnd().split("\n").at(-1) ?? "";
      spinner.wait(`merging ${id}: ${event.from}: ${last}`);
    }
  };
  const following = follow().catch(() => undefined); // a failure to show progress must not fail the merge
  try {
    return await work();
  } finally {
    stop.abort();
    await following;
  }
}

/** A prediction for a task that was merged finds nothing to merge. */
export function rememberMerge(report: MergeReport, { merge }: TaskView): MergeReport {
  if (report.outcome !== "nothing" || merge?.outcome !== "merged" || merge.into !== report.into) return report;
  return { ...report, outcome: "merged", already: true, ...(merge.commit !== undefined && { commit: merge.commit }) };
}

/** True for a predicted merge that would overwrite local changes of the checkout, which its message names. */
export function wouldOverwriteChanges({ outcome, dryRun, already, message }: MergeReport): boolean {
  return outcome === "merged" && dryRun && already !== true && message !== undefined;
}

export function formatMergeReport(id: string, report: MergeReport): string[] {
  const { outcome, how, into, dryRun, commit, commits, already, conflicts, message } = report;
  const branch = escapeInvisible(into);
  const what = `${formatCount(commits)} ${commits === 1 ? "commit" : "commits"}`;
  const why = message === undefined ? "" : `: ${toSingleLine(message)}`;
  switch (outcome) {
    case "merged":
      if (wouldOverwriteChanges(report)) return [`cannot merge ${id} into ${branch} now${why}`];
      if (dryRun && already !== true)
        return [`${id} would merge into ${branch} without conflicts (${how}, ${what}); nothing was changed`];
      if (already === true) {
        const where = commit === undefined ? "" : ` (${shortCommit(commit)})`;
        return [`${id} is already merged into ${branch}${where} and has no changes since; nothing was changed`];
      }
      return [
        `merged ${id} into ${branch} (${how}, ${what}${commit === undefined ? "" : `, now ${shortCommit(commit)}`}); ` +
          `remove its worktree with: rookery task remove ${id}`,
      ];
    case "nothing":
      return [`${id} has no changes to merge into ${branch}`];
    case "conflicts":
      return [
        `${id} ${dryRun ? "would conflict" : "conflicts"} with ${branch} in ${formatCount(conflicts.length)} ${conflicts.length === 1 ? "file" : "files"}; nothing was changed:`,
        ...conflicts.map((file) => `  ${escapeInvisible(file)}`),
        `let the agent resolve them: rookery task resume ${id} "Merge ${branch} into your branch and resolve the conflicts"`,
      ];
    case "gate_failed":
      return [`the gate failed, so ${id} was not merged into ${branch}${why}; see its output: rookery task logs ${id}`];
    case "failed":
      return [`cannot merge ${id} into ${branch}${why}`];
  }
}
