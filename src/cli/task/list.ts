/** `rookery task list`: prints tasks as a table, or opens the cockpit on a terminal. */
import { resolve } from "node:path";
import type { TaskStatus } from "../../domain/enums.ts";
import type { ListTasks, Tasks, TaskView } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { isInteractive, print, printJson, printText } from "../io.ts";
import { choiceOption, countOption, isSet, textOption } from "../options.ts";
import { SHOWN_TASK_STATUSES } from "../sessions/shown-status.ts";
import type { TaskService } from "./service.ts";
import { allTasks } from "./find.ts";
import { type ListedTask, markInterrupted } from "./interrupted.ts";
import { terminalSize } from "./terminal-size.ts";
import { formatTaskTable } from "./table.ts";
import { sortByGroup } from "./task-group.ts";

const DEFAULT_LIMIT = 20;
/** The cockpit shows a part of its list, and filters it. */
const COCKPIT_LIMIT = 200;
/** Statuses of tasks that have started and not ended. */
const ACTIVE_STATUSES: readonly TaskStatus[] = ["preparing", "running", "waiting"];
const BUSY_STATUSES: readonly TaskStatus[] = ["preparing", "running", "waiting", "parked"];

export async function listTasksCommand({ io, options }: CommandCall, service: TaskService): Promise<ExitCode> {
  const folder = textOption(options, "cwd");
  const shownStatus = choiceOption(options, "status", SHOWN_TASK_STATUSES);
  const status = shownStatus === "interrupted" ? ACTIVE_STATUSES : shownStatus && [shownStatus];
  const query: ListTasks = {
    ...(status !== undefined && { status }),
    agent: textOption(options, "agent"),
    ...(folder !== undefined && { cwd: resolve(io.cwd(), folder) }),
  };
  const given = countOption(options, "limit", 1);
  const readFrom = async (from: TaskService, limit: number): Promise<readonly ListedTask[]> => {
    const found = await (isSet(options, "all") ? listAll(from.tasks, query) : listNewest(from.tasks, query, limit));
    const marked = await Promise.all(found.map((task) => markInterrupted(from, task)));
    return shownStatus === undefined
      ? marked
      : marked.filter((task) => task.interrupted === (shownStatus === "interrupted"));
  };
  const { terminalInput: input } = io;
  const isPrinted = isSet(options, "json") || isSet(options, "once") || !isInteractive(io.stdout, io.env);
  if (!isPrinted && input !== undefined) {
    const { openCockpit } = await import("./cockpit/cockpit.ts");
    const { openTaskService, findServerAddress } = await import("./open-service.ts");
    return openCockpit({
      io,
      input,
      service,
      reopen: () => openTaskService(io, options),
      openLocal: async () => (await import("./local-service.ts")).openLocalTasks(io),
      hasNewServer: () => findServerAddress(io, options) !== undefined,
      read: (from) => readFrom(from, given ?? COCKPIT_LIMIT),
    });
  }
  const limit = given ?? DEFAULT_LIMIT;
  const found = await readFrom(service, limit + 1);
  const hasMore = found.length > limit && !isSet(options, "all");
  const tasks = hasMore ? found.slice(0, limit) : found;
  if (isSet(options, "json")) {
    for (const { interrupted: _, ...task } of tasks) await printJson(io, task);
  } else if (tasks.length === 0) {
    const which = Object.values(query).some((value) => value !== undefined) ? "such tasks" : "tasks";
    await printText(io, `no ${which}; start one: rookery task start "PROMPT"\n`);
  } else {
    const width = io.stdout.isTTY === true ? terminalSize(io.stdout).width : undefined;
    await print(io, `${formatTaskTable(sortByGroup(tasks), { width }).join("\n")}\n`);
    if (hasMore) await printText(io, `… older tasks are not shown; show all: rookery task list --all\n`);
  }
  return EXIT.done;
}

/** Lists busy tasks first, so that newer queued tasks do not push them out. */
async function listNewest(tasks: Tasks, query: ListTasks, limit: number): Promise<readonly TaskView[]> {
  const some = await tasks.list({ ...query, limit });
  if (query.status !== undefined || some.length < limit) return some;
  const busy = await tasks.list({ ...query, status: BUSY_STATUSES, limit });
  const shown = new Set(busy.map(({ id }) => id));
  return [...busy, ...some.filter(({ id }) => !shown.has(id))].slice(0, limit);
}

async function listAll(tasks: Tasks, query: ListTasks): Promise<readonly TaskView[]> {
  const all: TaskView[] = [];
  for await (const task of allTasks(tasks, query)) all.push(task);
  return all;
}
