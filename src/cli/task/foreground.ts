/** Runs a task in this process while a person or a program watches, and says how it went. */
import { isEndedStatus } from "../../domain/enums.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { duration } from "../format.ts";
import { asTyped, type Io, isAttended, print, printJson, say } from "../io.ts";
import { oneLine } from "../printable.ts";
import { askedIn } from "../run/asked.ts";
import { Asker } from "../run/asker.ts";
import { aborted, watchInterrupts } from "../run/interrupts.ts";
import { openScreen, type Screen } from "../run/screen.ts";
import type { Logged, TaskDoor, TaskRunner } from "./door.ts";
import { keptWords } from "./kept.ts";
import { nextText } from "./next.ts";
import { showTaskEvent } from "./stage-screen.ts";
import { watchTask } from "./watch.ts";
import { isTaskEvent, usedWords } from "./words.ts";

export interface Foreground {
  readonly io: Io;
  readonly door: TaskDoor;
  readonly runner: TaskRunner;
  readonly task: TaskView;
  /** The last position that is not to be shown. */
  readonly after: number;
  readonly json: boolean;
}

export async function runInForeground(options: Foreground): Promise<ExitCode> {
  const { io, door, runner, task, after, json } = options;
  const { id } = task;
  using interrupts = watchInterrupts(io);
  const ended = new AbortController();
  {
    using screen = openScreen(io, json);
    await using askers = askersFor(options, screen);
    await using _watch = watchTask(door, { id, after }, async (logged) => {
      if (json) await printJson(io, { position: logged.position, ...logged.event });
      else if (isTaskEvent(logged.event)) await showTaskEvent(io, screen, task, logged.event);
      else await screen.show(logged.event);
      askers.bringUp(logged);
    });
    const running = runner.run(id, ended.signal);
    try {
      await Promise.race([running, aborted(interrupts.signal)]);
      if (interrupts.signal.aborted) await stopped(door, id);
    } finally {
      ended.abort();
      await running;
    }
  }
  return await conclude(options, await door.tasks.show(id));
}

/** It may have ended by itself meanwhile. */
async function stopped({ tasks }: TaskDoor, id: string): Promise<void> {
  try {
    await tasks.stop(id, { reason: "interrupted" });
  } catch (error) {
    if (!isEndedStatus((await tasks.show(id)).status)) throw error;
  }
}

interface Askers extends AsyncDisposable {
  bringUp(logged: Logged): void;
}

/** One for each session, since an answer goes to one. */
function askersFor({ io, runner }: Foreground, screen: Screen): Askers {
  const askers = new Map<string, Asker>();
  const here = isAttended(io);
  const askerOf = (sessionId: string): Asker => {
    const known = askers.get(sessionId);
    if (known !== undefined) return known;
    const asker = new Asker({
      io,
      sessionId,
      here,
      answer: (requestId, answer) => runner.answer(sessionId, requestId, answer),
      onBusy: (busy) => screen.hold(busy),
    });
    askers.set(sessionId, asker);
    return asker;
  };
  return {
    bringUp({ event }) {
      if (isTaskEvent(event)) return;
      const asked = askedIn(event);
      if (asked !== undefined) askerOf(event.sessionId).ask(asked);
      if (event.type === "permission.resolved" || event.type === "question.answered") {
        askers.get(event.sessionId)?.resolved(event.requestId);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const asker of askers.values()) await asker[Symbol.asyncDispose]();
    },
  };
}

async function conclude({ io, json }: Foreground, task: TaskView): Promise<ExitCode> {
  const { id, status, message = status } = task;
  const tell = (text: string) => (json ? Promise.resolve() : print(io, asTyped(io, `${text}\n`)));
  switch (status) {
    case "done": {
      const merged = task.merge?.outcome === "merged" ? `, merged into ${oneLine(task.merge.into)}` : "";
      await tell(`task ${id} is done${merged} · ${[...usedWords(task), duration(task.ranMs)].join(" · ")}`);
      await tell(nextText(id, merged === "" ? ["diff", "merge"] : ["show", "remove"]).trimEnd());
      return EXIT.done;
    }
    case "failed":
      say(io, `task ${id} failed: ${message}; ${kept(task)}`);
      return EXIT.failed;
    case "stopped":
      say(io, `task ${id} was stopped; ${kept(task)}`);
      return EXIT.cancelled;
    case "queued":
    case "parked":
      say(io, `task ${id} ${waitsFor(task)}; nobody runs it until then but: rookery serve`);
      return EXIT.done;
    case "preparing":
    case "running":
    case "waiting":
      say(io, `task ${id} is run by another process; see rookery task show ${id}`);
      return EXIT.done;
  }
}

function kept(task: TaskView): string {
  const [, ...rest] = keptWords(task).split("; ");
  return rest.join("; ");
}

function waitsFor({ needs, status, notBefore }: TaskView): string {
  if (notBefore !== undefined) return `waits until ${notBefore}`;
  return needs.length > 0 ? `waits for ${needs.join(", ")}` : `is ${status}`;
}
