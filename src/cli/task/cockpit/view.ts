/** Renders the cockpit as a live region that fits the screen. Pure. */
import { isEndedStatus } from "../../../domain/enums.ts";
import { formatCount } from "../../format.ts";
import type { Paint } from "../../paint.ts";
import { stripHidden, toSingleLine } from "../../sanitize.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import { formatStatusLine, type StatusFact } from "../../tui/status-line.ts";
import { clipStyled, styledWidth, wrapStyled } from "../../tui/styled-text.ts";
import type { ListedTask } from "../interrupted.ts";
import { formatLastActivity } from "../messages.ts";
import { countGroups } from "../task-group.ts";
import { formatAskedByTask } from "./asked-subjects.ts";
import { renderAskedDecision, renderAskedReason } from "./asked-request.ts";
import { formatTaskTitle, renderTaskRows } from "./rows.ts";
import { canRunHere, findAskingTask } from "./keys.ts";
import { type CockpitMode, type CockpitState, targetTask, visibleTasks } from "./state.ts";
import type { TranscriptWindow } from "./transcript-buffer.ts";

export interface CockpitFrame {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The line editor after a label. */
  readonly renderInput: (label: string) => LiveRegion;
  /** What the agent of the open task does now. */
  readonly progress: readonly string[];
  /** The part of the open transcript that fits this many rows. */
  readonly transcript: (room: number) => TranscriptWindow;
}

/** On a screen with fewer rows, only tasks and keys are shown. */
const MIN_ROWS_FOR_DETAILS = 9;
const MAX_NOTICE_LINES = 3;

export function renderCockpit(state: CockpitState, frame: CockpitFrame): LiveRegion {
  const rows = Math.max(1, frame.rows - 1); // the inline screen keeps one row for the cursor
  const bottom = renderBottom(state, frame);
  const notice = renderNotice(state, frame).slice(0, Math.max(0, rows - bottom.lines.length - 1));
  const room = Math.max(0, rows - bottom.lines.length - notice.length);
  const { mode } = state;
  const body =
    "request" in mode
      ? takeLast(renderAskingTask(state, frame, mode.request.taskId), room)
      : mode.type === "lines"
        ? renderOpenLines(mode, frame, room)
        : state.openId !== undefined
          ? renderOpenTask(state, frame, room)
          : renderList(state, frame, room);
  const above = [...body, ...notice];
  const cursor = bottom.cursor && { row: bottom.cursor.row + above.length, column: bottom.cursor.column };
  return { lines: [...above, ...bottom.lines], cursor };
}

function renderList(state: CockpitState, frame: CockpitFrame, room: number): string[] {
  const { columns: width, paint, now } = frame;
  if (room === 0) return [];
  const isLarge = frame.rows >= MIN_ROWS_FOR_DETAILS && room >= 5;
  const tasks = visibleTasks(state);
  const head = isLarge ? [renderHeading(state, frame)] : [];
  if (tasks.length === 0) return [...head, ...wrapStyled(paint("dim", describeEmptyList(state)), width)].slice(0, room);
  const selected = Math.max(
    0,
    tasks.findIndex(({ id }) => id === state.selectedId),
  );
  const detail = isLarge ? renderDetail(state, tasks[selected], frame) : [];
  const count = Math.max(1, room - head.length - detail.length);
  const start = Math.max(0, Math.min(selected - Math.floor(count / 2), tasks.length - count));
  const rows = renderTaskRows(tasks.slice(start, start + count), {
    width,
    paint,
    selectedId: state.selectedId,
    changedFiles: state.changedFiles,
    since: state.readAt === undefined ? 0 : Math.max(0, now - state.readAt),
  });
  return [...head, ...rows, ...detail];
}

function renderHeading(state: CockpitState, { columns, paint }: CockpitFrame): string {
  const counts = countGroups(state.tasks).map(
    ([group, count]) => `${count} ${group === "needs you" && count > 1 ? "need you" : group}`,
  );
  const facts: StatusFact[] = [
    ...counts.map((text, index) => ({ text, priority: 9 - index })),
    { text: state.filter === "" ? "" : `filter: ${state.filter}`, priority: 20 },
    { text: state.server === undefined ? "no server" : `server ${state.server}`, priority: 0 },
  ];
  return paint("dim", formatStatusLine(facts, columns));
}

function describeEmptyList({ readAt, filter, disconnected }: CockpitState): string {
  if (readAt === undefined) return disconnected === undefined ? "reading the tasks" : "no tasks were read yet";
  return filter === "" ? "no tasks; press n to start one" : `no task matches "${filter}"; Esc shows all`;
}

/** The id of the selected task, and why it has its status or what it did last. */
function renderDetail(state: CockpitState, task: ListedTask | undefined, { columns, paint }: CockpitFrame): string[] {
  if (task === undefined) return [];
  const asks = task.status === "waiting" && !task.interrupted;
  const activity = asks ? renderAsked(state, task, paint) : toSingleLine(stripHidden(formatLastActivity(task)));
  const id = paint("dim", activity === "" ? task.id : `${task.id} · `);
  return ["", clipStyled(`  ${id}${asks || activity === "" ? activity : paint("dim", activity)}`, columns)];
}

/** What the task asks, or how to see it if that is not known yet. */
function renderAsked({ askedSubjects }: CockpitState, task: ListedTask, paint: Paint): string {
  const subject = stripHidden(formatAskedByTask(task, askedSubjects));
  return subject === "" ? paint("yellow", "needs an answer: press a") : `${paint("yellow", "asks:")} ${subject}`;
}

/** The end of the transcript, or the part to which the person has scrolled, above the name of the task. */
function renderOpenTask(state: CockpitState, frame: CockpitFrame, room: number): string[] {
  const { columns, paint } = frame;
  const task = targetTask(state);
  const title = task === undefined ? (state.openId ?? "") : `${task.id} · ${formatTaskTitle(task)}`;
  const asks = task !== undefined && task.waitingFor.length > 0 ? [renderAsked(state, task, paint)] : [];
  const name = ["", ...[paint("bold", title), ...asks].map((line) => clipStyled(line, columns))];
  const { lines: end, below } = frame.transcript(Math.max(0, room - name.length - frame.progress.length));
  if (below === 0) return takeLast([...end, ...frame.progress, ...name], room);
  const { lines, below: left } = frame.transcript(Math.max(0, room - name.length - 1));
  const more = clipStyled(paint("dim", `… ${formatCount(left)} more lines; G goes to the end`), columns);
  return takeLast([...lines, more, ...name], room);
}

/** A short diff in place of the list. */
function renderOpenLines(
  { title, lines }: Extract<CockpitMode, { type: "lines" }>,
  { columns, paint }: CockpitFrame,
  room: number,
): string[] {
  const rows = lines.flatMap((line) => wrapStyled(line, columns));
  const name = ["", clipStyled(paint("bold", title), columns)];
  return takeLast([...rows.slice(0, Math.max(0, room - name.length)), ...name], room);
}

/** The list is hidden while a request is open, so that there is room for what the person decides on. */
function renderAskingTask({ tasks }: CockpitState, { columns, paint }: CockpitFrame, id: string): string[] {
  const task = tasks.find((one) => one.id === id);
  const title = task === undefined ? id : `${id} · ${formatTaskTitle(task)}`;
  return ["", clipStyled(`${paint("bold", title)} ${paint("yellow", "asks")}`, columns)];
}

function takeLast(lines: readonly string[], room: number): string[] {
  return room === 0 ? [] : lines.slice(-room);
}

function renderNotice({ notice, disconnected }: CockpitState, { columns, paint }: CockpitFrame): string[] {
  const lines = [
    ...(disconnected === undefined ? [] : [`${paint("red", "disconnected:")} ${toSingleLine(disconnected)}`]),
    ...(notice === undefined ? [] : [paint(notice.color, toSingleLine(stripHidden(notice.text)))]),
  ];
  return lines.flatMap((line) => wrapStyled(line, columns, "  ").slice(0, MAX_NOTICE_LINES));
}

/** Where the person types or decides, or the keys. */
function renderBottom(state: CockpitState, frame: CockpitFrame): LiveRegion {
  const { columns: width, rows, paint, renderInput } = frame;
  const { mode } = state;
  const fixed = (lines: readonly string[]): LiveRegion => ({ lines, cursor: undefined });
  switch (mode.type) {
    case "browse":
      return fixed([paint("dim", formatStatusLine(keyFacts(state, frame), width))]);
    case "filter": {
      const text = clipStyled(`${paint("cyan", "/")}${state.filter}`, Math.max(1, width - 1));
      return { lines: [text], cursor: { row: 0, column: Math.min(width - 1, 1 + styledWidth(state.filter)) } };
    }
    case "lines":
      return fixed([paint("dim", clipStyled("any key goes back", width))]);
    case "help":
      return fixed(HELP_LINES.slice(0, Math.max(1, rows - 2)).map((line) => clipStyled(line, width)));
    case "confirm": {
      const question = wrapStyled(`${paint("yellow", "?")} ${toSingleLine(mode.question)} [y/n]`, width, "  ");
      const lines = mode.lines.flatMap((line) => wrapStyled(stripHidden(line), width, "  "));
      return fixed([...lines.slice(0, Math.max(0, rows - 2 - question.length)), ...question].slice(-(rows - 1)));
    }
    case "input": {
      const { lines, cursor } = renderInput(paint("cyan", clipStyled(mode.label, Math.floor(width / 2))));
      const hint = `Enter ${mode.purpose.type === "start" ? "starts it" : "resumes it"} · Esc cancels`;
      const hints = rows >= MIN_ROWS_FOR_DETAILS ? [paint("dim", clipStyled(hint, width))] : [];
      return { lines: [...lines, ...hints], cursor };
    }
    case "reason":
      return renderAskedReason({ ...mode, request: mode.request.asked }, { width, rows, paint, renderInput });
    case "form":
      return mode.form.render({
        width,
        rows: Math.max(3, rows - 3),
        paint,
        renderInput,
        escapeHint: "Esc answers later",
      });
    case "decide":
      return renderAskedDecision({ ...mode, request: mode.request.asked }, { width, rows, paint });
  }
}

function keyFacts(state: CockpitState, { rows }: CockpitFrame): StatusFact[] {
  if (state.openId !== undefined) {
    return [
      { text: "Esc back", priority: 10 },
      { text: "↑↓ scroll", priority: 7 },
      ...taskKeyFacts(state),
      { text: "? keys", priority: 8 },
    ];
  }
  const tasks = visibleTasks(state);
  const place = tasks.findIndex(({ id }) => id === state.selectedId) + 1;
  const isPart = tasks.length > Math.max(1, rows - 5);
  return [
    { text: isPart ? `${place} of ${tasks.length}` : "", priority: 9 },
    { text: "Enter open", priority: 7 },
    ...taskKeyFacts(state),
    { text: "n new", priority: 6 },
    { text: "/ filter", priority: 1 },
    { text: "? keys", priority: 8 },
    { text: "q quits", priority: 10 },
  ];
}

/** The keys that do something with the task in its state. */
function taskKeyFacts(state: CockpitState): StatusFact[] {
  const task = targetTask(state);
  if (task === undefined) return [];
  const isEnded = isEndedStatus(task.status);
  return [
    { text: findAskingTask(state) === undefined ? "" : "a answer", priority: 6 },
    { text: "d diff", priority: 5 },
    { text: isEnded ? "m merge" : "", priority: 4 },
    { text: isEnded ? "" : "s stop", priority: 3 },
    { text: canRunHere(state, task) ? "r run" : isEnded && !task.interrupted ? "r resume" : "", priority: 2 },
  ];
}

const HELP_LINES = [
  "↑ ↓ or k j  select a task; g and G: the first and the last",
  "Enter       show what its agent does; ↑ ↓ and Page keys scroll, Esc goes back",
  "a           answer what it asks; if it asks nothing, select a task that does",
  "d           show its changes",
  "m           merge it, after a preview",
  "s           stop it; its worktree is kept",
  "r           resume it, with a message; without a server, run it here",
  "n           start a new task",
  "/           filter by title, id, agent or state; Esc shows all",
  "q, Ctrl-C   leave; interrupts the tasks that run here, not those of a server",
];
