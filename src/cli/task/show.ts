/** `rookery task show`: prints the details of a task, the last message of its agent, and how to answer its requests. */
import { isEndedStatus } from "../../domain/enums.ts";
import { shortId } from "../../domain/ids.ts";
import type { TaskView } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatDuration, formatLocalTime } from "../format.ts";
import { hasColor, type Io, withCommandPrefix, print, printJson, terminalWidth } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { stripControls, toSingleLine } from "../sanitize.ts";
import { formatPendingRequest } from "../sessions/format-request.ts";
import { loadMessageRenderer } from "../transcript/message-renderer.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { type ListedTask, markInterrupted } from "./interrupted.ts";
import { type NextCommand, formatNextCommands } from "./next-commands.ts";
import { pendingTaskRequests } from "./requests.ts";
import { formatLastActivity, MERGE_OUTCOME_TEXT, shortCommit, formatTaskUsage } from "./messages.ts";

export async function showTaskCommand(
  { io, args: [named = ""], options }: CommandCall,
  service: TaskService,
): Promise<ExitCode> {
  const task = await findTask(service.tasks, named, io);
  if (isSet(options, "json")) await printJson(io, task);
  else {
    const requests = await pendingTaskRequests(service, task);
    const shown = await markInterrupted(service, task);
    const waits = requests.map(({ sessionId, asked }) => formatPendingRequest(sessionId, asked, task.id));
    const said = await formatLastMessage(await readLastTaskMessage(service, task), io);
    const width = terminalWidth(io.stdout);
    const facts = withCommandPrefix(io, formatTaskFacts(shown, width) + formatNextSteps(shown, width));
    await print(io, facts + said + withCommandPrefix(io, waits.join("")));
  }
  return EXIT.done;
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

function formatTaskFacts(task: ListedTask, width: number | undefined): string {
  const { worktree, merge, stages, stage } = task;
  const kept = worktree === undefined ? undefined : `${worktree.path}${worktree.removed ? " (removed)" : ""}`;
  const facts: [string, string | undefined][] = [
    ["task", task.id],
    ["title", task.title],
    ["prompt", task.prompt === task.title ? undefined : toSingleLine(task.prompt, 500)],
    ["status", formatTaskStatus(task)],
    ["agent", task.agent],
    ["stage", stages.length < 2 ? undefined : `${stage ?? "none"} (of ${stages.join(" → ")})`],
    ["repository", task.repository],
    ["worktree", kept],
    ["branch", worktree && `${worktree.branch}, from ${worktree.base} (${shortCommit(worktree.baseCommit)})`],
    ["port", worktree?.port === undefined || isEndedStatus(task.status) ? undefined : String(worktree.port)],
    ["needs", task.needs.join(", ") || undefined],
    ["priority", task.priority === 0 ? undefined : String(task.priority)],
    ["created", formatLocalTime(task.createdAt)],
    ["started", task.startedAt && formatLocalTime(task.startedAt)],
    ["ended", task.endedAt && formatLocalTime(task.endedAt)],
    ["ran", task.startedAt && `${formatDuration(task.ranMs)}${task.runs > 1 ? ` in ${task.runs} runs` : ""}`],
    ["used", formatTaskUsage(task).join(" · ") || undefined],
    ...task.sessions.map(({ id, stage: of }): [string, string] => ["session", `${shortId(id)} (${of})`]),
    ["merge", merge && formatMerge(merge)],
    ["conflicts", merge?.conflicts?.join(", ") || undefined],
    ["last", lastActivity(task)],
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, toSingleLine(value)]]));
  return formatColumns(rows, width);
}

/** Undefined if the status already says it. */
function lastActivity(task: ListedTask): string | undefined {
  if (isEndedStatus(task.status) || task.interrupted || task.status === "waiting" || task.message !== undefined)
    return undefined;
  return formatLastActivity(task) || undefined;
}

function formatTaskStatus(task: ListedTask): string {
  const { status, message, code, notBefore } = task;
  if (task.interrupted) return `interrupted (was ${status}); continue it with: rookery task resume ${task.id}`;
  if (status === "waiting") return "waiting for an answer";
  const until = notBefore === undefined ? "" : ` until ${formatLocalTime(notBefore)}`;
  const why = message === undefined ? "" : `: ${message}${code === undefined ? "" : ` (${code})`}`;
  return `${status}${until}${why}`;
}

function formatMerge({ how, into, outcome, commit, message }: NonNullable<TaskView["merge"]>): string {
  const done = outcome === undefined ? "in progress" : MERGE_OUTCOME_TEXT[outcome];
  const where = outcome === "merged" && commit !== undefined ? ` as ${shortCommit(commit)}` : "";
  const why = message === undefined || outcome === "conflicts" ? "" : `: ${message}`; // the files are listed on their own line
  return `${how} into ${into}: ${done}${where}${why}`;
}

/** Lists the commands that make sense now. */
function formatNextSteps(task: ListedTask, width: number | undefined): string {
  const { id, status, worktree, merge, removed } = task;
  if (removed || (status === "waiting" && !task.interrupted)) return "";
  const hasTree = worktree !== undefined && !worktree.removed;
  const names: readonly NextCommand[] = [
    ...(hasTree ? (["diff"] as const) : []),
    ...(hasTree && isEndedStatus(task.status) && merge?.outcome !== "merged" ? (["merge"] as const) : []),
    ...(isEndedStatus(task.status)
      ? status === "done"
        ? (["remove"] as const) // without a prompt, there is nothing to continue
        : (["resume", "remove"] as const)
      : task.interrupted
        ? (["resume", "stop"] as const)
        : (["logs", "stop"] as const)),
  ];
  return `\n${formatNextCommands(id, names, width)}`;
}
