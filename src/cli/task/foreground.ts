/** Runs a task in this process, shows its events, and reports the outcome. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatDuration, formatLocalTime } from "../format.ts";
import { type Io, isPersonPresent, printJson, printNotice, printText, terminalWidth } from "../io.ts";
import { canAskWithKeys } from "../questions/question-terminal.ts";
import { toSingleLine } from "../sanitize.ts";
import { toPendingRequest } from "../run/pending-request.ts";
import { RequestPrompter } from "../run/request-prompter.ts";
import { untilAborted, watchInterrupts } from "../run/interrupts.ts";
import { openScreen, type Screen } from "../run/screen.ts";
import { formatUsageFacts } from "../transcript/usage-facts.ts";
import type { LoggedEvent, TaskService, TaskRunner } from "./service.ts";
import { formatResumeHint } from "./resume-hint.ts";
import { formatNextCommands } from "./next-commands.ts";
import { showTaskEvent } from "./task-event-screen.ts";
import { watchTask } from "./watch.ts";
import { isTaskEvent } from "./messages.ts";

export interface ForegroundRun {
  readonly io: Io;
  readonly service: TaskService;
  readonly runner: TaskRunner;
  readonly task: TaskView;
  /** Events up to this position are not shown. */
  readonly after: number;
  readonly json: boolean;
}

export async function runInForeground(options: ForegroundRun): Promise<ExitCode> {
  const { io, service, runner, task, after, json } = options;
  const { id } = task;
  let makeRoom = (): void => undefined;
  using interrupts = watchInterrupts(io, () => makeRoom());
  const ended = new AbortController();
  {
    const repeatsDecisions = isPersonPresent(io) && canAskWithKeys(io); // the question goes away with its answer
    using screen = openScreen(io, { json, repeatsDecisions });
    makeRoom = () => screen.makeRoom();
    await using prompter = createSessionPrompter(options, screen);
    await using _watch = watchTask(service, { id, after }, async (logged) => {
      if (json) await printJson(io, { position: logged.position, ...logged.event });
      else if (isTaskEvent(logged.event)) await showTaskEvent(io, screen, task, logged.event);
      else await screen.show(logged.event);
      prompter.handleEvent(logged);
    });
    const running = runner.run(id, ended.signal);
    try {
      await Promise.race([running, untilAborted(interrupts.signal)]);
      if (interrupts.signal.aborted) await stopTask(service, id);
    } finally {
      ended.abort();
      await running;
    }
  }
  return await reportOutcome(options, await service.tasks.show(id));
}

/** Does not fail if the task has already ended. */
async function stopTask({ tasks }: TaskService, id: string): Promise<void> {
  try {
    await tasks.stop(id, { reason: "interrupted" });
  } catch (error) {
    if (!isEndedStatus((await tasks.show(id)).status)) throw error;
  }
}

interface SessionPrompter extends AsyncDisposable {
  handleEvent(logged: LoggedEvent): void;
}

/** Asks the questions of all sessions of the task, one at a time. */
function createSessionPrompter({ io, service }: ForegroundRun, screen: Screen): SessionPrompter {
  const folders = new Map<string, string>();
  const prompter = new RequestPrompter({
    io,
    atTerminal: isPersonPresent(io),
    answer: (sessionId, requestId, answer) => service.answer(sessionId, requestId, answer),
    onBusy: (busy, printAbove) => screen.hold(busy, printAbove),
  });
  return {
    handleEvent({ event }) {
      if (isTaskEvent(event)) return;
      const { sessionId } = event;
      if (event.type === "session.opened") folders.set(sessionId, event.cwd);
      const asked = toPendingRequest(event, folders.get(sessionId));
      if (asked !== undefined) prompter.ask(sessionId, asked);
      if (event.type === "permission.resolved" || event.type === "question.answered") {
        prompter.resolved(sessionId, event.requestId);
      }
    },
    [Symbol.asyncDispose]: () => prompter[Symbol.asyncDispose](),
  };
}

async function reportOutcome({ io, json }: ForegroundRun, task: TaskView): Promise<ExitCode> {
  const { id, status, message = status } = task;
  const tell = (text: string) => (json ? Promise.resolve() : printText(io, `${text}\n`));
  switch (status) {
    case "done": {
      const merged = task.merge?.outcome === "merged" ? `, merged into ${toSingleLine(task.merge.into)}` : "";
      await tell(
        `task ${id} is done${merged} · ${[...formatUsageFacts(task.usage), formatDuration(task.ranMs)].join(" · ")}`,
      );
      await tell(
        formatNextCommands(
          id,
          merged === "" ? ["diff", "merge"] : ["show", "remove"],
          terminalWidth(io.stdout),
        ).trimEnd(),
      );
      return EXIT.done;
    }
    case "failed":
      printNotice(io, `task ${id} failed: ${message}; ${formatResumeHint(task)}`);
      return EXIT.failed;
    case "stopped":
      printNotice(io, `task ${id} was stopped; ${formatResumeHint(task)}`);
      return EXIT.cancelled;
    case "queued":
    case "parked":
      if (isUnavailableHere(task)) {
        printNotice(io, `task ${id} waits: ${message}`);
        return EXIT.failed;
      }
      printNotice(io, `task ${id} ${describeWait(task)}; run it with: rookery serve`);
      return EXIT.done;
    case "preparing":
    case "running":
    case "waiting":
      printNotice(io, `another process runs task ${id}; see: rookery task show ${id}`);
      return EXIT.done;
  }
}

/** A task that has no reason to wait, and that this process has left again. */
function isUnavailableHere({ needs, notBefore, message }: TaskView): boolean {
  return needs.length === 0 && notBefore === undefined && message !== undefined;
}

function describeWait({ needs, status, notBefore }: TaskView): string {
  if (notBefore !== undefined) return `waits until ${formatLocalTime(notBefore)}`;
  return needs.length > 0 ? `waits for ${needs.join(", ")}` : `is ${status}`;
}
