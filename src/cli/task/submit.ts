/** Submits a task: to a server, to this process, or to the queue. */
import type { TaskView } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson, printNotice, printText, terminalWidth } from "../io.ts";
import { formatCount } from "../format.ts";
import { isSet } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import type { TaskService } from "./service.ts";
import { runInForeground } from "./foreground.ts";
import { formatNextCommands } from "./next-commands.ts";

/** `give` starts or resumes the task. */
export async function submitTask(
  { io, options }: CommandCall,
  service: TaskService,
  give: () => Promise<TaskView>,
): Promise<ExitCode> {
  const json = isSet(options, "json");
  const { server, runner } = service;
  const after = await service.head();
  const task = await give();
  if (task.uncommitted !== undefined) printNotice(io, formatUncommitted(task.uncommitted));
  const unmet = await unmetNeeds(service, task);
  if (runner !== undefined && !isSet(options, "detach") && unmet.length === 0) {
    if (!json)
      await print(
        io,
        `task ${task.id} in ${toSingleLine(task.repository)} with ${toSingleLine(task.agent)}; Ctrl-C stops it\n`,
      );
    return await runInForeground({ io, service, runner, task, after, json });
  }
  if (json) await printJson(io, task);
  else {
    const hasWorkers = server === undefined && runner !== undefined && (await runner.hasWorkers());
    await printText(io, formatSubmitted(task, { server, hasWorkers, unmet, width: terminalWidth(io.stdout) }));
  }
  return EXIT.done;
}

/** Returns the ids of needed tasks that are not done. */
async function unmetNeeds({ tasks }: TaskService, { needs }: TaskView): Promise<string[]> {
  const found = await Promise.all(needs.map((need) => tasks.show(need)));
  return found.flatMap(({ id, status }) => (status === "done" ? [] : [id]));
}

function formatUncommitted(count: number): string {
  const what =
    count === 1 ? "1 file with uncommitted changes is" : `${formatCount(count)} files with uncommitted changes are`;
  return `${what} not in the task's worktree, which starts from the last commit; commit them first if the task needs them`;
}

interface SubmissionTarget {
  readonly server: string | undefined;
  /** Whether a worker is alive that shares the log. */
  readonly hasWorkers: boolean;
  readonly unmet: readonly string[];
  readonly width: number | undefined;
}

function formatSubmitted(
  { id, agent, repository, worktree, message }: TaskView,
  { server, hasWorkers, unmet, width }: SubmissionTarget,
): string {
  const kept = worktree === undefined || worktree.removed ? undefined : toSingleLine(worktree.path);
  const waits = unmet.length === 0 ? "" : ` and waits for ${unmet.join(", ")}`;
  const who =
    server !== undefined
      ? `is queued on the server at ${server}${waits}`
      : !hasWorkers
        ? `is queued${waits}; start a server to run it: rookery serve`
        : waits === "" && message !== undefined
          ? `is queued: ${toSingleLine(message)}`
          : `is queued${waits}; a worker takes it`;
  const where = kept ?? `a new worktree of ${toSingleLine(repository)}`;
  return `task ${id} ${who}\nagent: ${toSingleLine(agent)}\nworktree: ${where}\n${formatNextCommands(id, ["logs", "diff", "stop"], width)}`;
}
