/** `rookery task show`: prints the state of a task, its changes, what it waits for, what to do next, and the last message of its agent. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { TaskDiff, TaskView } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { hasColor, type Io, withCommandPrefix, print, printJson, terminalWidth } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { stripControls } from "../sanitize.ts";
import { formatPendingRequest } from "../sessions/format-request.ts";
import { loadMessageRenderer } from "../transcript/message-renderer.ts";
import type { TaskService } from "./service.ts";
import { findNamedOrNewestTask } from "./find.ts";
import { formatChangedFiles, formatTaskDetails } from "./format-details.ts";
import { type ListedTask, markInterrupted } from "./interrupted.ts";
import { type NextCommand, formatNextCommands } from "./next-commands.ts";
import { pendingTaskRequests } from "./requests.ts";

/** Lines of a diff that a request shows; the rest would push the state of the task off the screen. */
const MAX_DIFF_LINES = 10;

export async function showTaskCommand(
  { io, args: [named], options }: CommandCall,
  service: TaskService,
): Promise<ExitCode> {
  const task = await findNamedOrNewestTask(service.tasks, named, io, "rookery task show");
  if (isSet(options, "json")) await printJson(io, task);
  else await printTask(io, service, task);
  return EXIT.done;
}

async function printTask(io: Io, service: TaskService, task: TaskView): Promise<void> {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const width = terminalWidth(io.stdout);
  const [shown, requests, diff, message] = await Promise.all([
    markInterrupted(service, task),
    pendingTaskRequests(service, task),
    readChangedFiles(service, task),
    readLastTaskMessage(service, task),
  ]);
  const hint = `see all of it: rookery task, then press a`;
  const format = { paint, columns: width, hint, maxLines: MAX_DIFF_LINES };
  const waits = requests.map(({ sessionId, asked }) => formatPendingRequest(sessionId, asked, task.id, format));
  const before = formatTaskDetails(shown, { width, paint }) + formatChangedFiles(task.id, diff, { width, paint });
  await print(io, withCommandPrefix(io, before + waits.join("") + formatNextSteps(shown, service, width)));
  await print(io, await formatLastMessage(message, io));
}

/** Undefined if the task has no worktree, or git fails. */
async function readChangedFiles({ tasks }: TaskService, { id, worktree }: TaskView): Promise<TaskDiff | undefined> {
  if (worktree === undefined || worktree.removed) return undefined;
  return tasks.diff(id, { patch: false }).catch(() => undefined);
}

/** The newest session may not have said anything yet. */
async function readLastTaskMessage(service: TaskService, { sessions }: TaskView): Promise<string | undefined> {
  for (const { id } of sessions.slice(-MAX_SESSIONS_READ).toReversed()) {
    const said = await service.lastMessage(id).catch(() => undefined); // the session was deleted
    if (said !== undefined) return said;
  }
  return undefined;
}

const MAX_SESSIONS_READ = 3;

async function formatLastMessage(text: string | undefined, io: Io): Promise<string> {
  const said = stripControls(text ?? "").trimEnd();
  if (said === "") return "";
  const heading = (hasColor(io) ? ansiPaint : plainPaint)("dim", "the last message of the agent:");
  const messages = await loadMessageRenderer(io);
  if (messages === undefined) return `\n${heading}\n${said}\n`;
  const blocks = messages.render(said, terminalWidth(io.stdout) ?? 80).map((lines) => `\n${lines.join("\n")}\n`);
  return `\n${heading}\n${blocks.join("")}`;
}

/** Lists the commands that make sense now. */
function formatNextSteps(task: ListedTask, { runner }: TaskService, width: number | undefined): string {
  const { id, status, worktree, merge, removed } = task;
  if (removed || (status === "waiting" && !task.interrupted)) return "";
  const needsRunner = task.interrupted || (status === "queued" && runner !== undefined); // no server starts it
  const hasTree = worktree !== undefined && !worktree.removed;
  const names: readonly NextCommand[] = [
    ...(hasTree ? (["diff"] as const) : []),
    ...(hasTree && isEndedStatus(task.status) && merge?.outcome !== "merged" ? (["merge"] as const) : []),
    ...(isEndedStatus(task.status)
      ? status === "done"
        ? (["remove"] as const) // without a prompt, there is nothing to continue
        : (["resume", "remove"] as const)
      : needsRunner
        ? (["resume", "stop"] as const)
        : (["logs", "stop"] as const)),
  ];
  return `\n${formatNextCommands(id, names, width)}`;
}
