/** Carries out the commands of the cockpit that change or read tasks. */
import type { QuestionAnswer } from "../../../domain/backend.ts";
import type { MergeReport } from "../../../domain/task/view.ts";
import { isRookeryError } from "../../../domain/errors.ts";
import { formatDecidedRequest } from "../../questions/open-request.ts";
import { openRequestDiff } from "../../questions/request-diff.ts";
import { renderRequest } from "../../questions/request-view.ts";
import { formatAnsweredQuestion } from "../../questions/question-view.ts";
import { withTrustQuestion } from "../../questions/trust-question.ts";
import { formatCount } from "../../format.ts";
import { formatPatch } from "../../diff/format-patch.ts";
import { openPager } from "../../diff/pager.ts";
import type { Io } from "../../io.ts";
import type { Color } from "../../paint.ts";
import { escapeInvisible, toSingleLine } from "../../sanitize.ts";
import type { PromptSurface } from "../../tui/prompt-surface.ts";
import { wrapStyled } from "../../tui/styled-text.ts";
import { formatMergeReport, rememberMerge, wouldOverwriteChanges } from "../merge.ts";
import { pendingTaskRequests, type TaskRequest } from "../requests.ts";
import type { TaskService } from "../service.ts";
import { fitsCockpit } from "./asked-request.ts";
import type { CockpitCommand } from "./commands.ts";
import type { CockpitMode } from "./state.ts";

export interface ActionHost {
  readonly io: Io;
  readonly surface: PromptSurface;
  readonly service: TaskService;
  readonly signal: AbortSignal;
  /** The task whose transcript is open. */
  readonly openTaskId: string | undefined;
  /** Runs the task in this process. */
  runHere(id: string): void;
  /** `queuedId`: the task that the notice calls queued. */
  notice(text: string, color?: Color, queuedId?: string): void;
  /** Selects a new task as soon as it is in the list. */
  select(id: string): void;
  /** Asks something, unless the person is answering something else. */
  enter(mode: CockpitMode): void;
  openForm(request: TaskRequest): void;
  /** Resolves with false if the person refuses. */
  askTrust(what: string): Promise<boolean>;
}

type TaskAction = Extract<
  CockpitCommand["type"],
  | "readRequest"
  | "showRequestDiff"
  | "answer"
  | "showDiff"
  | "previewMerge"
  | "merge"
  | "stop"
  | "resume"
  | "start"
  | "runHere"
>;
export type TaskActionCommand = Extract<CockpitCommand, { readonly type: TaskAction }>;

/** Conflicting files that are listed. */
const MAX_LISTED_CONFLICTS = 8;

/** Rejects with the error of the task service. */
export async function runTaskAction(host: ActionHost, command: TaskActionCommand): Promise<void> {
  const { tasks } = host.service;
  switch (command.type) {
    case "readRequest":
      return askNextRequest(host, command.id);
    case "showRequestDiff":
      return openRequestDiff(host, command.request.asked, host.signal);
    case "answer":
      return answerRequest(host, command);
    case "showDiff":
      return showDiff(host, command.id);
    case "previewMerge":
      return previewMerge(host, command.id);
    case "merge": {
      host.notice(`merging ${command.id}`);
      const report = await tasks.merge(command.id);
      const isGood = report.outcome === "merged" || report.outcome === "nothing";
      return host.notice(formatMergeReport(command.id, report).join("; "), isGood ? "green" : "yellow");
    }
    case "stop": {
      host.notice(`stopping ${command.id}`);
      const { id, status } = await tasks.stop(command.id, { reason: "stopped in the cockpit" });
      return host.notice(status === "stopped" ? `stopped ${id}; r continues it` : `${id} is ${status}`, "green");
    }
    case "resume": {
      await tasks.resume(command.id, { prompt: command.prompt });
      return runOrQueue(host, command.id, "");
    }
    case "runHere":
      return runOrQueue(host, command.id, "");
    case "start":
      return startTask(host, command.prompt);
  }
}

async function startTask(host: ActionHost, prompt: string): Promise<void> {
  const { io, service } = host;
  const cwd = io.cwd();
  host.notice("starting the task");
  const request = { prompt, cwd };
  const task = await withTrustQuestion({ cwd, env: io.env, ask: (what) => host.askTrust(what) }, async () =>
    service.tasks.start(await service.chooseAgent(request)),
  );
  const { uncommitted = 0 } = task;
  host.select(task.id);
  const files = uncommitted === 1 ? "1 uncommitted file is" : `${formatCount(uncommitted)} uncommitted files are`;
  const left = uncommitted === 0 ? "" : `; ${files} not in its worktree`;
  runOrQueue(host, task.id, ` (${toSingleLine(task.agent, 60)})`, left);
}

/** Runs the task in this process if there is no server that takes it. */
function runOrQueue(host: ActionHost, id: string, agent: string, more = ""): void {
  if (host.service.server !== undefined) return host.notice(`${id}${agent} is queued${more}`, "green", id);
  host.runHere(id);
  host.notice(`${id}${agent} runs while this screen is open${more}; in the background: rookery serve`, "green");
}

/** Asks for an answer to the oldest open request. */
async function askNextRequest(host: ActionHost, id: string): Promise<void> {
  const task = await host.service.tasks.show(id);
  const [request] = await pendingTaskRequests(host.service, task);
  if (request === undefined) return host.notice(`${id} does not ask anything now`);
  if (request.asked.question !== undefined) return host.openForm(request);
  const { surface } = host;
  const { columns: width, rows } = surface.size;
  const style = { width, rows, paint: surface.paint };
  const isPrinted = !fitsCockpit(request.asked, style);
  if (isPrinted) surface.print(["", ...renderRequest(request.asked, style)]);
  host.enter({ type: "decide", request, isPrinted });
}

async function answerRequest(
  host: ActionHost,
  { request, answer }: Extract<TaskActionCommand, { type: "answer" }>,
): Promise<void> {
  const { requestId, question } = request.asked;
  try {
    await host.service.answer(request.sessionId, requestId, answer);
    if ("decision" in answer) {
      if (host.openTaskId === request.taskId) return; // its transcript shows what the call did
      const { size, paint } = host.surface;
      return host.surface.print([formatDecidedRequest(request.asked, answer, { width: size.columns, paint })]);
    }
    if (question !== undefined) printAnswer(host, formatAnsweredQuestion(question, answer, host.surface.paint));
    host.notice(`${ANSWERED[answer.action]} the question of ${request.taskId}`, "green");
  } catch (error) {
    if (!isRookeryError(error, "request_not_found")) throw error;
    host.notice("the request was answered elsewhere", "yellow");
  }
}

function printAnswer({ surface }: ActionHost, lines: readonly string[]): void {
  surface.print(["", ...lines.flatMap((line) => wrapStyled(line, surface.size.columns, "  "))]);
}

const ANSWERED: Record<QuestionAnswer["action"], string> = {
  accept: "answered",
  decline: "declined",
  cancel: "left open",
};

/** Rows that the name of the task, the keys and a notice take. */
const DIFF_OTHER_ROWS = 5;

/** Shows a short diff in place of the list, and a long one in the pager. */
async function showDiff(host: ActionHost, id: string): Promise<void> {
  const { surface, io } = host;
  const { patch = "", truncated } = await host.service.tasks.diff(id, { patch: true });
  if (patch.trim() === "") return host.notice(`${id} has no changes`);
  const { paint } = surface;
  const { columns, rows } = surface.size;
  const lines = formatPatch(patch, { paint, columns });
  if (lines.length <= rows - DIFF_OTHER_ROWS) host.enter({ type: "lines", title: `changes of ${id}`, lines });
  else await surface.lend(() => openPager(io, `${formatPatch(patch, { paint }).join("\n")}\n`, host.signal));
  if (truncated) host.notice(`the diff of ${id} is too large to show completely; use git in its worktree`, "yellow");
}

async function previewMerge(host: ActionHost, id: string): Promise<void> {
  host.notice(`checking how ${id} would merge`);
  const report = rememberMerge(await host.service.tasks.predictMerge(id), await host.service.tasks.show(id));
  host.notice("");
  const [first = "", ...others] = formatMergeReport(id, report);
  if (report.outcome === "merged" && report.already !== true && !wouldOverwriteChanges(report)) {
    const diff = await host.service.tasks.diff(id, { patch: false });
    const files = `${formatCount(diff.files.length)} ${diff.files.length === 1 ? "file" : "files"}`;
    const lines = [first, `${files} · +${formatCount(diff.additions)} -${formatCount(diff.deletions)}`];
    const question = `Merge ${id} into ${escapeInvisible(report.into)}?`;
    return host.enter({ type: "confirm", lines, question, accept: { type: "merge", id } });
  }
  if (report.outcome === "conflicts") return askToResolve(host, id, report, first);
  host.notice([first, ...others].join("; "), "yellow");
}

function askToResolve(host: ActionHost, id: string, { conflicts, into }: MergeReport, first: string): void {
  const listed = conflicts.slice(0, MAX_LISTED_CONFLICTS).map((file) => `  ${escapeInvisible(file)}`);
  const left = conflicts.length - listed.length;
  const branch = escapeInvisible(into);
  host.enter({
    type: "confirm",
    lines: [first, ...listed, ...(left > 0 ? [`  … ${formatCount(left)} more`] : [])],
    question: "Let the agent resolve them?",
    accept: { type: "resume", id, prompt: `Merge ${branch} into your branch and resolve the conflicts` },
  });
}
