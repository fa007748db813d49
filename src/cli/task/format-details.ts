/** Formats what `rookery task show` prints about a task: its state, its facts and its changed files. */
import { isEndedStatus } from "../../domain/enums.ts";
import { shortId } from "../../domain/ids.ts";
import type { ChangedFile, TaskDiff, TaskView } from "../../domain/task/view.ts";
import { displayWidth, fitToWidth, truncateToWidth } from "../display-width.ts";
import { formatColumns, formatCount, formatDuration, formatLocalTime } from "../format.ts";
import { type Paint, plainPaint } from "../paint.ts";
import { escapeInvisible, stripHidden, toSingleLine } from "../sanitize.ts";
import { formatUsageFacts } from "../transcript/usage-facts.ts";
import { wrapText } from "../wrap.ts";
import type { ListedTask } from "./interrupted.ts";
import { formatLastActivity, MERGE_OUTCOME_TEXT, shortCommit } from "./messages.ts";
import { formatTaskCost, formatTaskElapsed } from "./table.ts";
import { GROUP_STYLES, groupOfTask } from "./task-group.ts";

export interface DetailsFormat {
  /** The columns of the terminal, or undefined for a pipe, which gets only names and values. */
  readonly width: number | undefined;
  readonly paint: Paint;
}

/** A terminal gets the title and the status as a heading. */
export function formatTaskDetails(task: ListedTask, { width, paint }: DetailsFormat): string {
  if (width === undefined) return formatTaskFacts(task, undefined, plainPaint);
  return `${formatTaskHeading(task, width, paint)}\n${formatTaskFacts(task, width, paint)}`;
}

function formatTaskHeading(task: ListedTask, width: number, paint: Paint): string {
  const { mark, color } = GROUP_STYLES[groupOfTask(task)];
  const title = wrapText(toSingleLine(stripHidden(task.title)) || task.id, { width, indent: "" });
  const cost = formatTaskCost(task);
  const facts = [
    task.startedAt === undefined ? "" : formatTaskElapsed(task.ranMs),
    cost === "unknown" ? "" : cost,
  ].filter((fact) => fact !== "");
  const merged = task.merge?.outcome === "merged" ? `, merged into ${toSingleLine(task.merge.into)}` : "";
  const status = `${mark} ${toSingleLine(formatTaskStatus(task))}${merged}`;
  const rest = facts.length === 0 ? "" : paint("dim", ` · ${facts.join(" · ")}`);
  const painted = title.split("\n").map((line) => paint("bold", line));
  return `${painted.join("\n")}\n${wrapText(`${paint(color, status)}${rest}`, { width, indent: "  " })}\n`;
}

function formatTaskFacts(task: ListedTask, width: number | undefined, paint: Paint): string {
  const isTerminal = width !== undefined;
  const { worktree, merge, stages } = task;
  const where = worktree?.host === undefined ? "" : ` on host ${worktree.host}`;
  const kept = worktree && `${worktree.path}${where}${worktree.removed ? " (removed)" : ""}`;
  const facts: [string, string | undefined][] = [
    ["task", task.id],
    ["title", isTerminal ? undefined : task.title],
    ["prompt", task.prompt === task.title ? undefined : toSingleLine(task.prompt, 500)],
    ["status", isTerminal ? undefined : formatTaskStatus(task)],
    ["agent", task.agent],
    ["stage", stages.length < 2 ? undefined : isTerminal ? formatStages(task) : describeStage(task)],
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
    ["used", formatUsageFacts(task.usage).join(" · ") || undefined],
    ...task.sessions.map(({ id, stage: of }): [string, string] => ["session", `${shortId(id)} (${of})`]),
    ["merge", merge && formatMerge(merge)],
    ["conflicts", merge?.conflicts?.join(", ") || undefined],
    ["last", lastActivity(task)],
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, toSingleLine(value)]]));
  const names = new Set(rows.map(([name]) => name));
  return formatColumns(rows, width)
    .split("\n")
    .map((line) => {
      const [name = ""] = line.split(" ", 1);
      return names.has(name) ? paint("dim", name) + line.slice(name.length) : line;
    })
    .join("\n");
}

function describeStage({ stage, stages }: ListedTask): string {
  return `${stage ?? "none"} (of ${stages.join(" → ")})`;
}

/** Marks the stages that have passed and the current one. */
function formatStages({ stage, stages, status }: ListedTask): string {
  const at = status === "done" ? stages.length : stage === undefined ? -1 : stages.indexOf(stage);
  const mark = (index: number): string => (index < at ? "✓ " : index === at ? "● " : "○ ");
  return stages.map((name, index) => mark(index) + name).join(" → ");
}

const MAX_LISTED_FILES = 8;
const MAX_PATH_WIDTH = 60;

/** The number of changed lines of each file. */
export function formatChangedFiles(id: string, diff: TaskDiff | undefined, { width, paint }: DetailsFormat): string {
  if (diff === undefined || diff.files.length === 0) return "";
  const { files, additions, deletions } = diff;
  const count = `${formatCount(files.length)} ${files.length === 1 ? "file" : "files"} changed`;
  const listed = files.slice(0, MAX_LISTED_FILES);
  const room = Math.min(MAX_PATH_WIDTH, width === undefined ? Infinity : Math.max(10, width - 24));
  const paths = listed.map(({ path }) => truncateStart(escapeInvisible(path), room));
  const longest = Math.max(...paths.map(displayWidth));
  const lines = listed.map((file, index) =>
    `  ${fitToWidth(paths[index] ?? "", longest)}  ${formatFileChange(file, paint)}`.trimEnd(),
  );
  const more = files.length - listed.length;
  return [
    "",
    `${count}, ${formatLineCounts(additions, deletions, paint)} · rookery task diff ${id}`,
    ...lines,
    ...(more > 0 ? [paint("dim", `  … ${formatCount(more)} more`)] : []),
    "",
  ].join("\n");
}

const CHANGE_WORDS: Record<ChangedFile["change"], string> = {
  added: "new",
  untracked: "new",
  modified: "",
  deleted: "deleted",
  renamed: "renamed",
  copied: "copied",
  type_changed: "other type",
  unmerged: "in conflict",
};

function formatFileChange({ change, additions, deletions, binary }: ChangedFile, paint: Paint): string {
  const counts = binary
    ? "binary"
    : additions === undefined && deletions === undefined
      ? ""
      : formatLineCounts(additions ?? 0, deletions ?? 0, paint);
  return [counts, paint("dim", CHANGE_WORDS[change])].filter((part) => part !== "").join(" ");
}

function formatLineCounts(additions: number, deletions: number, paint: Paint): string {
  return `${paint("green", `+${formatCount(additions)}`)} ${paint("red", `-${formatCount(deletions)}`)}`;
}

/** Keeps the end of a path, which names the file. */
function truncateStart(path: string, width: number): string {
  if (displayWidth(path) <= width) return path;
  const reversed = Array.from(path).toReversed().join("");
  return Array.from(truncateToWidth(reversed, width)).toReversed().join("");
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
