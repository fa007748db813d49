/** Hands a task over to whoever runs it: a server, this process, or nobody yet. */
import type { TaskView } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { asTyped, print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import { oneLine } from "../printable.ts";
import type { TaskDoor } from "./door.ts";
import { runInForeground } from "./foreground.ts";
import { nextText } from "./next.ts";

/** `give` starts or resumes it. */
export async function giveTask(
  { io, options }: Call,
  door: TaskDoor,
  give: () => Promise<TaskView>,
): Promise<ExitCode> {
  const json = isSet(options, "json");
  const { server, runner } = door;
  const after = await door.head();
  const task = await give();
  const unmet = await unmetNeeds(door, task);
  if (runner !== undefined && !isSet(options, "detach") && unmet.length === 0) {
    if (!json) await print(io, `task ${task.id} in ${oneLine(task.repository)}; Ctrl-C stops it\n`);
    return await runInForeground({ io, door, runner, task, after, json });
  }
  if (json) await printJson(io, task);
  else await print(io, asTyped(io, handedOver(task, { server, unmet })));
  return EXIT.done;
}

/** What must be done before it, and is not. */
async function unmetNeeds({ tasks }: TaskDoor, { needs }: TaskView): Promise<string[]> {
  const found = await Promise.all(needs.map((need) => tasks.show(need)));
  return found.flatMap(({ id, status }) => (status === "done" ? [] : [id]));
}

interface Whereabouts {
  readonly server: string | undefined;
  readonly unmet: readonly string[];
}

function handedOver({ id, repository, worktree }: TaskView, { server, unmet }: Whereabouts): string {
  const kept = worktree === undefined || worktree.removed ? undefined : oneLine(worktree.path);
  const waits = unmet.length === 0 ? "" : ` and waits for ${unmet.join(", ")}`;
  const who =
    server === undefined
      ? `is queued${waits}; nobody runs it until: rookery serve`
      : `is given to the server at ${server}${waits}`;
  const where = kept ?? `a worktree of ${oneLine(repository)}`;
  return `task ${id} ${who}\nit works in ${where}\n${nextText(id, ["logs", "diff", "stop"])}`;
}
