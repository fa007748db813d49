/** `rookery task logs`: everything that happened to a task and in its sessions, in one order. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { print, printJson, say } from "../io.ts";
import { countOption, isSet } from "../options.ts";
import type { Logged, TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { isAnybodys } from "./left.ts";
import { lineOf } from "./line.ts";

export async function printLogs({ io, args: [named = ""], options }: Call, door: TaskDoor): Promise<ExitCode> {
  let at = countOption(options, "after", 0) ?? 0;
  const { id, stages } = await findTask(door.tasks, named);
  const show = async (logged: Logged): Promise<void> => {
    at = logged.position;
    if (logged.event.type === "agent.raw" && !isSet(options, "all")) return;
    if (isSet(options, "json")) await printJson(io, { position: logged.position, ...logged.event });
    else await print(io, `${lineOf(logged, stages)}\n`);
  };
  const head = at === 0 ? 0 : await door.head();
  if (at > head) throw usage(`--after ${at} is beyond the end of the log, which is ${head}; read it from 0`);
  for await (const logged of door.history(id, at)) await show(logged);
  if (!isSet(options, "follow") || (await isOver(door, id))) return EXIT.done;
  if (door.runner !== undefined && (await isAnybodys(door, id))) {
    say(io, `nobody runs task ${id} now; go on: rookery task resume ${id}, or rookery serve`);
  }
  for await (const logged of door.tasks.follow({ task: id, after: at })) {
    await show(logged);
    if (ENDING.has(logged.event.type) && (await isOver(door, id))) break;
  }
  for await (const logged of door.history(id, at)) await show(logged); // what came with the end
  return EXIT.done;
}

const ENDING: ReadonlySet<string> = new Set(["task.ended", "merge.ended", "task.removed"]);

/** It has ended, and nothing is being merged. */
async function isOver({ tasks }: TaskDoor, id: string): Promise<boolean> {
  const task = await tasks.show(id);
  const merges = task.merge !== undefined && task.merge.outcome === undefined;
  return task.removed || (isEndedStatus(task.status) && !merges);
}
