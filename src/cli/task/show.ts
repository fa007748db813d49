/** `rookery task show`: all that is known of a task, and how to answer what it waits for. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { TaskView } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns, duration, localTime } from "../format.ts";
import { asTyped, print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import { oneLine } from "../printable.ts";
import { requestText } from "../sessions/request.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { type ShownTask, withLeft } from "./left.ts";
import { type NextCommand, nextText } from "./next.ts";
import { openRequests } from "./requests.ts";
import { lastWords, MERGED, shortCommit, usedWords } from "./words.ts";

export async function showTask({ io, args: [named = ""], options }: Call, door: TaskDoor): Promise<ExitCode> {
  const task = await findTask(door.tasks, named);
  if (isSet(options, "json")) await printJson(io, task);
  else {
    const requests = await openRequests(door, task);
    const shown = await withLeft(door, task);
    const waits = requests.map(({ sessionId, asked }) => requestText(sessionId, asked));
    await print(io, asTyped(io, [factsOf(shown), ...waits, nextOf(shown)].join("")));
  }
  return EXIT.done;
}

function factsOf(task: ShownTask): string {
  const { worktree, merge, stages, stage } = task;
  const kept = worktree === undefined ? undefined : `${worktree.path}${worktree.removed ? " (removed)" : ""}`;
  const facts: [string, string | undefined][] = [
    ["task", task.id],
    ["title", task.title],
    ["prompt", task.prompt === task.title ? undefined : oneLine(task.prompt, 500)],
    ["status", statusOf(task)],
    ["agent", task.agent],
    ["stage", stages.length < 2 ? undefined : `${stage ?? "none"} (of ${stages.join(" → ")})`],
    ["repository", task.repository],
    ["worktree", kept],
    ["branch", worktree && `${worktree.branch}, from ${worktree.base} (${shortCommit(worktree.baseCommit)})`],
    ["port", worktree?.port === undefined || isEndedStatus(task.status) ? undefined : String(worktree.port)],
    ["needs", task.needs.join(", ") || undefined],
    ["priority", task.priority === 0 ? undefined : String(task.priority)],
    ["given", localTime(task.createdAt)],
    ["started", task.startedAt && localTime(task.startedAt)],
    ["ended", task.endedAt && localTime(task.endedAt)],
    ["ran", task.startedAt && `${duration(task.ranMs)}${task.runs > 1 ? ` in ${task.runs} runs` : ""}`],
    ["used", usedWords(task).join(" · ") || undefined],
    ...task.sessions.map(({ id, stage: of }): [string, string] => ["session", `${id} (${of})`]),
    ["merge", merge && mergeWords(merge)],
    ["conflicts", merge?.conflicts?.join(", ") || undefined],
    ["last", lastOf(task)],
  ];
  return columns(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, oneLine(value)]])));
}

/** Where the status does not say it already. */
function lastOf(task: ShownTask): string | undefined {
  if (isEndedStatus(task.status) || task.left || task.status === "waiting" || task.message !== undefined)
    return undefined;
  return lastWords(task) || undefined;
}

function statusOf(task: ShownTask): string {
  const { status, message, code, notBefore } = task;
  if (task.left) return `interrupted (was ${status}); go on: rookery task resume ${task.id}`;
  if (status === "waiting") return "waiting for an answer";
  const until = notBefore === undefined ? "" : ` until ${localTime(notBefore)}`;
  const why = message === undefined ? "" : `: ${message}${code === undefined ? "" : ` (${code})`}`;
  return `${status}${until}${why}`;
}

function mergeWords({ how, into, outcome, commit, message }: NonNullable<TaskView["merge"]>): string {
  const done = outcome === undefined ? "is being done" : MERGED[outcome];
  const where = outcome === "merged" && commit !== undefined ? ` as ${shortCommit(commit)}` : "";
  const why = message === undefined || outcome === "conflicts" ? "" : `: ${message}`; // the files have a line of their own
  return `${how} into ${into}: ${done}${where}${why}`;
}

/** What a person may want to type now. */
function nextOf(task: ShownTask): string {
  const { id, status, worktree, merge, removed } = task;
  if (removed || (status === "waiting" && !task.left)) return "";
  const hasTree = worktree !== undefined && !worktree.removed;
  const names: readonly NextCommand[] = [
    ...(hasTree ? (["diff"] as const) : []),
    ...(hasTree && isEndedStatus(task.status) && merge?.outcome !== "merged" ? (["merge"] as const) : []),
    ...(isEndedStatus(task.status)
      ? (["resume", "remove"] as const)
      : task.left
        ? (["resume", "stop"] as const)
        : (["logs", "stop"] as const)),
  ];
  return `\n${nextText(id, names)}`;
}
