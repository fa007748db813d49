/** `rookery task list`: a table of tasks, which a terminal shows as it changes. */
import { resolve } from "node:path";
import { TASK_STATUSES, type TaskStatus } from "../../domain/enums.ts";
import type { ListTasks, Tasks, TaskView } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { asTyped, isLively, print, printJson } from "../io.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import type { TaskDoor } from "./door.ts";
import { allTasks } from "./find.ts";
import { withLeft } from "./left.ts";
import { showLive } from "./live.ts";
import { sizeOf } from "./size.ts";
import { tableOf } from "./table.ts";

const DEFAULT_LIMIT = 20;
/** Held by someone, or by a limit. */
const BUSY: readonly TaskStatus[] = ["preparing", "running", "waiting", "parked"];

export async function listTasks({ io, options }: Call, door: TaskDoor): Promise<ExitCode> {
  const folder = textOption(options, "cwd");
  const status = choiceOption(options, "status", TASK_STATUSES);
  const query: ListTasks = {
    ...(status !== undefined && { status: [status] }),
    agent: textOption(options, "agent"),
    ...(folder !== undefined && { cwd: resolve(io.cwd(), folder) }),
  };
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const find = () => (isSet(options, "all") ? every(door.tasks, query) : newest(door.tasks, query, limit));
  const read = async () => Promise.all((await find()).map((task) => withLeft(door, task)));
  const tasks = await read();
  if (isSet(options, "json")) {
    for (const { left: _, ...task } of tasks) await printJson(io, task);
  } else if (tasks.length === 0) {
    const which = Object.values(query).some((value) => value !== undefined) ? "such tasks" : "tasks";
    await print(io, asTyped(io, `no ${which}; start one: rookery task start "PROMPT"\n`));
  } else if (isLively(io.stdout, io.env) && !isSet(options, "once")) {
    await showLive({ io, door, tasks, read });
  } else {
    const width = io.stdout.isTTY === true ? sizeOf(io.stdout).width : undefined;
    await print(io, `${tableOf(tasks, { width }).join("\n")}\n`);
  }
  return EXIT.done;
}

/** What is being worked on is there although many came after it. */
async function newest(tasks: Tasks, query: ListTasks, limit: number): Promise<readonly TaskView[]> {
  const some = await tasks.list({ ...query, limit });
  if (query.status !== undefined || some.length < limit) return some;
  const busy = await tasks.list({ ...query, status: BUSY, limit });
  const shown = new Set(busy.map(({ id }) => id));
  return [...busy, ...some.filter(({ id }) => !shown.has(id))].slice(0, limit);
}

async function every(tasks: Tasks, query: ListTasks): Promise<readonly TaskView[]> {
  const all: TaskView[] = [];
  for await (const task of allTasks(tasks, query)) all.push(task);
  return all;
}
