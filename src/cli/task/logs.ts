/** `rookery task logs`: prints what was said and done in a task and its sessions, or their events. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { printNotice } from "../io.ts";
import { countOption, isSet } from "../options.ts";
import type { LoggedEvent, TaskService } from "./service.ts";
import { findNamedOrNewestTask } from "./find.ts";
import { hasNoRunner } from "./interrupted.ts";
import { chooseLogPrinter } from "./log-printer.ts";
import { pendingTaskRequests } from "./requests.ts";

export async function taskLogsCommand(
  { io, args: [named], options }: CommandCall,
  service: TaskService,
): Promise<ExitCode> {
  let at = countOption(options, "after", 0) ?? 0;
  const { id, stages } = await findNamedOrNewestTask(service.tasks, named, io, "rookery task logs");
  const printer = await chooseLogPrinter({ io, options, stages });
  const show = async (logged: LoggedEvent): Promise<void> => {
    at = logged.position;
    await printer.show(logged);
  };
  const head = at === 0 ? 0 : await service.head();
  if (at > head) throw usageError(`--after ${at} is past the end of the log (${head}); use a smaller value`);
  for await (const logged of service.history(id, at)) await show(logged);
  const shownRequests = new Set<string>();
  const showOpenRequests = async (): Promise<void> => {
    for (const request of await pendingTaskRequests(service, await service.tasks.show(id))) {
      const key = `${request.sessionId} ${request.asked.requestId}`;
      if (!shownRequests.has(key)) await printer.showRequest(request);
      shownRequests.add(key);
    }
  };
  await showOpenRequests();
  const isFollowing = isSet(options, "follow") && !(await isFinished(service, id));
  if (isFollowing) {
    if (service.runner !== undefined && (await hasNoRunner(service, id))) {
      printNotice(io, `no process runs task ${id} now; continue it with: rookery task resume ${id}, or rookery serve`);
    }
    await printer.startLive();
    for await (const logged of service.tasks.follow({ task: id, after: at })) {
      await show(logged);
      if (ASKING_EVENTS.has(logged.event.type)) await showOpenRequests();
      if (FINAL_EVENTS.has(logged.event.type) && (await isFinished(service, id))) break;
    }
    for await (const logged of service.history(id, at)) await show(logged); // events recorded together with the end
  }
  await printer.end();
  return EXIT.done;
}

const FINAL_EVENTS: ReadonlySet<string> = new Set(["task.ended", "merge.ended", "task.removed"]);

const ASKING_EVENTS: ReadonlySet<string> = new Set(["permission.requested", "question.asked"]);

/** True if the task has ended and no merge is in progress. */
async function isFinished({ tasks }: TaskService, id: string): Promise<boolean> {
  const task = await tasks.show(id);
  const merges = task.merge !== undefined && task.merge.outcome === undefined;
  return task.removed || (isEndedStatus(task.status) && !merges);
}
