/** Decides what a key does in the cockpit. Pure: state and key in, state and command out. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { isEndedStatus } from "../../../domain/enums.ts";
import { commandOf, type DecisionKey, answerFromText } from "../../questions/permission-keys.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ListedTask } from "../interrupted.ts";
import { groupOfTask } from "../task-group.ts";
import type { CockpitCommand } from "./commands.ts";
import type { TaskDecideMode, TaskReasonMode } from "./request-mode.ts";
import { BROWSE_MODE, type CockpitMode, type CockpitState, keepSelection, targetTask, visibleTasks } from "./state.ts";

export interface CockpitStep {
  readonly state: CockpitState;
  readonly command?: CockpitCommand;
}

const PAGE = 10;
const MAX_FILTER_LENGTH = 200;

export function handleCockpitKey(before: CockpitState, data: string): CockpitStep {
  const state = { ...before, notice: before.mode.type === "browse" ? undefined : before.notice };
  if (matchesKey(data, "ctrl+z")) return { state: before, command: { type: "suspend" } };
  if (matchesKey(data, "ctrl+l")) return { state: before, command: { type: "redraw" } };
  const { mode } = state;
  switch (mode.type) {
    case "browse":
      return state.openId === undefined ? handleListKey(state, data) : handleTranscriptKey(state, data);
    case "help":
    case "lines":
      return matchesKey(data, "ctrl+c") ? quit(state) : { state: { ...state, mode: BROWSE_MODE } };
    case "filter":
      return { state: keepSelection(before, handleFilterKey(state, data)) };
    case "confirm":
      return handleConfirmKey(state, mode, data);
    case "input":
      return isCancelKey(data) ? leaveInput(state) : { state, command: { type: "edit", data } };
    case "decide":
      if (isCancelKey(data) && !(mode.isAlwaysAsked === true && matchesKey(data, "escape")))
        return { state: { ...state, mode: BROWSE_MODE } };
      return { state, command: { type: "decisionKey", mode, data } };
    case "reason":
      if (isCancelKey(data)) return enter(state, { type: "decide", request: mode.request, isPrinted: mode.isPrinted });
      return { state, command: { type: "edit", data } };
    case "form":
      if (matchesKey(data, "ctrl+c") || (matchesKey(data, "escape") && mode.form.isAtStart)) return leaveInput(state);
      return { state, command: { type: "formKey", form: mode.form, data } };
  }
}

/** Call it with the text of the editor after Enter. */
export function handleCockpitSubmit(state: CockpitState, text: string): CockpitStep {
  const { mode } = state;
  const typed = text.trim();
  if (mode.type === "form") return { state, command: { type: "submitForm", form: mode.form, text } };
  if (mode.type === "reason") {
    const answer = answerFromText(mode.request.asked, typed, mode.isCommand);
    return { state: { ...state, mode: BROWSE_MODE }, command: { type: "answer", request: mode.request, answer } };
  }
  if (mode.type !== "input") return { state };
  const closed = { ...state, mode: BROWSE_MODE };
  if (mode.purpose.type === "start")
    return typed === "" ? { state: closed } : { state: closed, command: { type: "start", prompt: typed } };
  const { id, isPromptRequired } = mode.purpose;
  if (typed === "" && isPromptRequired) return { state: closed };
  return { state: closed, command: { type: "resume", id, prompt: typed === "" ? undefined : typed } };
}

function handleListKey(state: CockpitState, data: string): CockpitStep {
  const tasks = visibleTasks(state);
  const at = Math.max(
    0,
    tasks.findIndex(({ id }) => id === state.selectedId),
  );
  const select = (index: number): CockpitStep => ({
    state: { ...state, selectedId: tasks[Math.max(0, Math.min(tasks.length - 1, index))]?.id },
  });
  if (matchesKey(data, "up") || data === "k") return select(at - 1);
  if (matchesKey(data, "down") || data === "j") return select(at + 1);
  if (matchesKey(data, "pageUp")) return select(at - PAGE);
  if (matchesKey(data, "pageDown")) return select(at + PAGE);
  if (matchesKey(data, "home") || data === "g") return select(0);
  if (matchesKey(data, "end") || data === "G") return select(tasks.length - 1);
  if (matchesKey(data, "ctrl+c") || matchesKey(data, "ctrl+d") || data.toLowerCase() === "q") return quit(state);
  if (matchesKey(data, "escape")) return { state: keepSelection(state, { ...state, filter: "" }) };
  if (data === "/") return enter(state, { type: "filter" });
  if (matchesKey(data, "enter") && state.selectedId !== undefined) {
    const id = state.selectedId;
    return { state: { ...state, openId: id }, command: { type: "openTranscript", id } };
  }
  return handleTaskKey(state, data);
}

function handleTranscriptKey(state: CockpitState, data: string): CockpitStep {
  if (matchesKey(data, "ctrl+c") || matchesKey(data, "ctrl+d")) return quit(state);
  if (matchesKey(data, "escape") || data.toLowerCase() === "q")
    return { state: { ...state, openId: undefined }, command: { type: "closeTranscript" } };
  const [step] = SCROLL_KEYS.find(([, key, letter]) => matchesKey(data, key) || data === letter) ?? [];
  return step === undefined ? handleTaskKey(state, data) : { state, command: { type: "scrollTranscript", step } };
}

const SCROLL_KEYS = [
  ["up", "up", "k"],
  ["down", "down", "j"],
  ["pageUp", "pageUp", "b"],
  ["pageDown", "pageDown", " "],
  ["start", "home", "g"],
  ["end", "end", "G"],
] as const;

/**
 * The task that `a` answers or selects: the open or selected one or, in the list, the first one that asks something.
 */
export function findAskingTask(state: CockpitState): ListedTask | undefined {
  const task = targetTask(state);
  if (task !== undefined && task.waitingFor.length > 0) return task;
  if (state.openId !== undefined) return undefined;
  return visibleTasks(state).find(({ waitingFor, interrupted }) => waitingFor.length > 0 && !interrupted);
}

/** Keys that act on the open or selected task. */
function handleTaskKey(state: CockpitState, data: string): CockpitStep {
  if (data === "?") return enter(state, { type: "help" });
  if (data === "n") return askFor(state, { type: "input", label: "new task: ", purpose: { type: "start" } });
  const task = targetTask(state);
  if (task === undefined) return { state };
  const { id } = task;
  switch (data) {
    case "a": {
      const asking = findAskingTask(state);
      if (asking === undefined) return refuse(state, `${id} does not ask anything`);
      if (asking === task) return { state, command: { type: "readRequest", id } };
      return { state: { ...state, selectedId: asking.id } }; // opened by the next `a`: the person has not seen it yet
    }
    case "d":
      return { state, command: { type: "showDiff", id } };
    case "m":
      if (isEndedStatus(task.status)) return { state, command: { type: "previewMerge", id } };
      return refuse(state, `${id} is ${groupOfTask(task)}; it can be merged when it has ended`);
    case "s":
      if (isEndedStatus(task.status)) return refuse(state, `${id} has ended already`);
      return enter(state, {
        type: "confirm",
        lines: [],
        question: `Stop ${id}? Its worktree is kept.`,
        accept: { type: "stop", id },
      });
    case "r":
      return handleResumeKey(state, task);
    default:
      return { state };
  }
}

function handleResumeKey(state: CockpitState, task: ListedTask): CockpitStep {
  const { id, status } = task;
  if (canRunHere(state, task)) return { state, command: { type: "runHere", id } };
  if (task.interrupted) return refuse(state, `the process of ${id} is gone; the server continues it`);
  if (!isEndedStatus(status)) return refuse(state, `${id} is ${groupOfTask(task)}; s stops it`);
  const isPromptRequired = status === "done";
  const label = isPromptRequired ? `what next for ${id}: ` : `message for ${id} (optional): `;
  return askFor(state, { type: "input", label, purpose: { type: "resume", id, isPromptRequired } });
}

/** True for a task that waits for a process, if there is no server that takes it. */
export function canRunHere({ server, localRuns }: CockpitState, { id, status, interrupted }: ListedTask): boolean {
  return server === undefined && !localRuns.has(id) && (interrupted || status === "queued");
}

function handleFilterKey(state: CockpitState, data: string): CockpitState {
  const { filter } = state;
  if (matchesKey(data, "enter")) return { ...state, mode: BROWSE_MODE };
  if (isCancelKey(data)) return { ...state, mode: BROWSE_MODE, filter: "" };
  if (matchesKey(data, "backspace")) return { ...state, filter: Array.from(filter).slice(0, -1).join("") };
  if (!/^[^\p{Cc}]+$/u.test(data)) return state;
  return { ...state, filter: toSingleLine(`${filter}${data}x`).slice(0, -1).slice(0, MAX_FILTER_LENGTH) };
}

function handleConfirmKey(
  state: CockpitState,
  { accept, refuse: refused }: Extract<CockpitMode, { type: "confirm" }>,
  data: string,
): CockpitStep {
  const closed = { ...state, mode: BROWSE_MODE };
  const isLeaving = accept.type === "quit" && matchesKey(data, "ctrl+c");
  if (data.toLowerCase() === "y" || isLeaving) return { state: closed, command: accept };
  if (data.toLowerCase() !== "n" && !isCancelKey(data)) return { state };
  return refused === undefined ? { state: closed } : { state: closed, command: refused };
}

/** Carries out a choice at a permission question. */
export function decideRequest(
  state: CockpitState,
  { request, isPrinted }: TaskDecideMode,
  key: DecisionKey,
): CockpitStep {
  if ("diff" in key) return { state, command: { type: "showRequestDiff", request } };
  if ("answer" in key)
    return { state: { ...state, mode: BROWSE_MODE }, command: { type: "answer", request, answer: key.answer } };
  const command = commandOf(request.asked);
  return startReason(state, { type: "reason", request, isPrinted, isCommand: command !== undefined }, command ?? "");
}

/** Opens the line editor to type the reason for a denial, or another command. */
export function startReason(state: CockpitState, mode: TaskReasonMode, text: string): CockpitStep {
  return { state: { ...state, mode }, command: { type: "setInput", text } };
}

function isCancelKey(data: string): boolean {
  return matchesKey(data, "escape") || matchesKey(data, "ctrl+c");
}

/** Asks if tasks run in this process. Ctrl-C at that question leaves. */
function quit(state: CockpitState): CockpitStep {
  const running = [...state.localRuns];
  if (running.length === 0) return { state, command: { type: "quit" } };
  const question = running.length === 1 ? "Leave, and interrupt it?" : "Leave, and interrupt them?";
  const names = running.map((id) => `${id}: continue it later with rookery task resume ${id}`);
  const lines = [
    running.length === 1 ? "One task is running here:" : `${running.length} tasks are running here:`,
    ...names,
  ];
  return enter(state, { type: "confirm", lines, question, accept: { type: "quit" } });
}

function enter(state: CockpitState, mode: CockpitMode): CockpitStep {
  return { state: { ...state, mode } };
}

/** Opens the line editor with an empty line. */
function askFor(state: CockpitState, mode: CockpitMode): CockpitStep {
  return { state: { ...state, mode }, command: { type: "setInput", text: "" } };
}

function leaveInput(state: CockpitState): CockpitStep {
  return { state: { ...state, mode: BROWSE_MODE }, command: { type: "setInput", text: "" } };
}

function refuse(state: CockpitState, text: string): CockpitStep {
  return { state: { ...state, notice: { text, color: "yellow" } } };
}
