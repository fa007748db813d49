/** `rookery task` on a terminal: selects, opens, answers, merges and starts tasks. */
import { deferred } from "../../../stdx/deferred.ts";
import { ChoiceTimer } from "../../questions/choice-timer.ts";
import { takeDecisionKey } from "../../questions/decision-keys.ts";
import { FormInput } from "../../questions/form-input.ts";
import { watchChatSignals } from "../../chat/signals.ts";
import { EXIT, type ExitCode, formatError } from "../../exit.ts";
import { hasColor, type Io, withCommandPrefix } from "../../io.ts";
import { ansiPaint, type Color, plainPaint } from "../../paint.ts";
import type { LiveRegion } from "../../tui/inline-screen.ts";
import { PromptSurface, type SurfaceOwner } from "../../tui/prompt-surface.ts";
import { styledWidth, wrapStyled } from "../../tui/styled-text.ts";
import type { TerminalInput } from "../../tui/terminal-input.ts";
import type { ListedTask } from "../interrupted.ts";
import type { TaskRequest } from "../requests.ts";
import type { LoggedEvent, TaskService } from "../service.ts";
import { type ActionHost, runTaskAction, type TaskActionCommand } from "./actions.ts";
import { AskedSubjectReader } from "./asked-subjects.ts";
import { ChangedFiles } from "./changed-files.ts";
import type { CockpitCommand } from "./commands.ts";
import { type CockpitStep, decideRequest, handleCockpitKey, handleCockpitSubmit, startReason } from "./keys.ts";
import { formatLeaving } from "./leaving.ts";
import { LocalTaskRuns } from "./local-runs.ts";
import { BROWSE_MODE, type CockpitMode, type CockpitState, EMPTY_COCKPIT, withTasks } from "./state.ts";
import { TaskFeed } from "./task-feed.ts";
import { TranscriptBuffer } from "./transcript-buffer.ts";
import { EMPTY_TASK_TRANSCRIPT, foldTaskEvent, renderTranscriptProgress } from "./task-transcript.ts";
import { followTranscript } from "./transcript-follower.ts";
import { TypingBurst } from "./typing-burst.ts";
import { renderCockpit } from "./view.ts";

export interface CockpitOptions {
  readonly io: Io;
  readonly input: NodeJS.ReadableStream;
  readonly service: TaskService;
  readonly reopen: () => Promise<TaskService>;
  readonly hasNewServer: () => boolean;
  /** Opens the tasks of this machine, to run them in this process. */
  readonly openLocal: () => Promise<TaskService>;
  readonly read: (service: TaskService) => Promise<readonly ListedTask[]>;
}

/** Updates elapsed times and spinners. */
const TICK_MS = 250;
const TICKS_PER_SECOND = 4;
const SPINNER_FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Resolves when the person leaves. The terminal is restored in every case. */
export async function openCockpit(options: CockpitOptions): Promise<ExitCode> {
  const { io, input } = options;
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  using surface = new PromptSurface({ input, output: io.stdout, paint });
  await surface.load();
  const cockpit = new Cockpit(options, surface);
  using _signals = watchChatSignals(io, () => cockpit.quit(EXIT.cancelled));
  return await cockpit.run();
}

class Cockpit implements SurfaceOwner, ActionHost {
  readonly io: Io;
  readonly surface: PromptSurface;
  readonly #feed: TaskFeed;
  readonly #changedFiles: ChangedFiles;
  readonly #askedSubjects: AskedSubjectReader;
  readonly #localRuns: LocalTaskRuns;
  readonly #stop = new AbortController();
  readonly #quit = deferred<ExitCode>();
  #state: CockpitState = EMPTY_COCKPIT;
  #transcript = EMPTY_TASK_TRANSCRIPT;
  readonly #buffer = new TranscriptBuffer();
  #closeTranscript = new AbortController();
  #trustAnswer = deferred<boolean>();
  /** A key at a permission question that has not counted yet. */
  readonly #choice = new ChoiceTimer();
  readonly #burst = new TypingBurst();
  #frame = 0;

  constructor(options: CockpitOptions, surface: PromptSurface) {
    this.io = options.io;
    this.surface = surface;
    this.#changedFiles = new ChangedFiles((changedFiles) => this.#change({ changedFiles }));
    this.#askedSubjects = new AskedSubjectReader((askedSubjects) => this.#change({ askedSubjects }));
    this.#localRuns = new LocalTaskRuns({
      open: options.openLocal,
      onChange: (localRuns) => this.#change({ localRuns }),
      onProblem: (error) => this.notice(formatError(error), "red"),
    });
    this.#feed = new TaskFeed({
      ...options,
      onTasks: (tasks, service) => this.#setTasks(tasks, service),
      onEvent: (logged) => this.#askedSubjects.addEvent(logged, this.#state.tasks),
      onDisconnected: (why) => this.#change({ disconnected: withCommandPrefix(this.io, why) }),
    });
  }

  async run(): Promise<ExitCode> {
    this.surface.setOwner(this);
    const tick = setInterval(() => this.#tick(), TICK_MS).unref();
    const feeding = this.#feed.run(this.#stop.signal);
    feeding.catch((error: unknown) => this.#quit.reject(error));
    try {
      const code = await this.#quit.promise;
      this.#print(formatLeaving(this.#state));
      return code;
    } finally {
      clearInterval(tick);
      this.#choice.cancel();
      this.#stop.abort();
      this.#closeTranscript.abort();
      await this.#localRuns[Symbol.asyncDispose]();
      await feeding.catch(() => undefined); // rejected above
    }
  }

  quit(code: ExitCode): void {
    this.#quit.resolve(code);
  }

  runHere(id: string): void {
    this.#localRuns.start(id);
  }

  get service(): TaskService {
    return this.#feed.service;
  }

  get openTaskId(): string | undefined {
    return this.#state.openId;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  notice(text: string, color: Color = "dim", queuedId?: string): void {
    this.#change({ notice: text === "" ? undefined : { text: withCommandPrefix(this.io, text), color, queuedId } });
  }

  select(id: string): void {
    this.#change({ newId: id });
  }

  enter(mode: CockpitMode): void {
    if (this.#state.mode.type === "browse") this.#change({ mode });
    else this.notice("finish this first, and then press the key again", "yellow");
  }

  openForm(request: TaskRequest): void {
    if (this.#state.mode.type !== "browse") return;
    const form = new FormInput(request.asked.question ?? { message: "" });
    this.surface.editor.setText("");
    this.#change({ mode: { type: "form", request, form } });
    this.#inBackground(async () => {
      const answer = await form.answer;
      const { mode } = this.#state;
      if (mode.type !== "form" || mode.form !== form) return; // the person decides later
      this.#change({ mode: BROWSE_MODE });
      await this.#act({ type: "answer", request, answer });
    });
  }

  askTrust(what: string): Promise<boolean> {
    this.#trustAnswer = deferred<boolean>();
    this.enter({
      type: "confirm",
      lines: [what],
      question: "Trust it?",
      accept: { type: "decideTrust", isTrusted: true },
      refuse: { type: "decideTrust", isTrusted: false },
    });
    return this.#trustAnswer.promise;
  }

  handleInput(input: TerminalInput): void {
    if (input.type === "key") {
      if (!this.#burst.includes(input.data, performance.now())) this.#step(handleCockpitKey(this.#state, input.data));
      return;
    }
    const { type } = this.#state.mode;
    const isFormText = this.#state.mode.type === "form" && this.#state.mode.form.isTyping;
    if (type === "input" || type === "reason" || isFormText) this.surface.editor.paste(input.text);
  }

  handleSubmit(text: string): void {
    this.#step(handleCockpitSubmit(this.#state, text));
  }

  compose(): LiveRegion {
    const { columns, rows } = this.surface.size;
    const { paint, editor } = this.surface;
    const spinner = SPINNER_FRAMES[this.#frame % SPINNER_FRAMES.length] ?? "";
    return renderCockpit(this.#state, {
      columns,
      rows,
      paint,
      now: Date.now(),
      renderInput: (text) => editor.render(columns, { text, width: styledWidth(text) }),
      progress: renderTranscriptProgress(this.#transcript, Date.now(), spinner, this.#style),
      transcript: (room) => this.#buffer.window(room, columns),
    });
  }

  get #style() {
    return { width: this.surface.size.columns, paint: this.surface.paint, escapeHint: "Esc goes back" };
  }

  #step({ state, command }: CockpitStep): void {
    this.#change(state);
    if (command !== undefined) this.#execute(command);
  }

  #execute(command: CockpitCommand): void {
    switch (command.type) {
      case "quit":
        return this.quit(EXIT.done);
      case "suspend":
        this.#choice.cancel();
        return this.surface.suspend();
      case "redraw":
        return this.surface.redraw();
      case "edit":
        return this.#edit(command.data);
      case "setInput":
        this.surface.editor.setText("");
        return this.surface.editor.insert(command.text);
      case "decisionKey":
        return this.#decide(command);
      case "formKey":
        if (!command.form.handleKey(command.data)) this.surface.editor.handleKey(command.data);
        else if (!command.form.isTyping) this.surface.editor.setText("");
        return;
      case "submitForm":
        return command.form.submit(command.text);
      case "openTranscript":
        return this.#openTranscript(command.id);
      case "closeTranscript":
        this.#buffer.clear();
        return this.#closeTranscript.abort();
      case "scrollTranscript":
        return this.#buffer.scroll(command.step);
      case "decideTrust":
        return this.#trustAnswer.resolve(command.isTrusted);
      case "readRequest":
        this.#burst.begin(performance.now(), "a"); // a key that is held down does not answer the request
        return this.#inBackground(() => this.#act(command));
      case "answer":
        this.#burst.begin(performance.now()); // the rest of a word does not act on the list
        return this.#inBackground(() => this.#act(command));
      default:
        return this.#inBackground(() => this.#act(command));
    }
  }

  #decide({ mode, data }: Extract<CockpitCommand, { type: "decisionKey" }>): void {
    const { request, isPrinted, isAlwaysAsked = false } = mode;
    takeDecisionKey(this.#choice, data, {
      prefix: request.asked.prefix,
      isAlwaysAsked,
      askAlways: () => this.#change({ mode: { ...mode, isAlwaysAsked: true } }),
      leaveAlways: () => this.#change({ mode: { ...mode, isAlwaysAsked: false } }),
      act: (key) => this.#step(decideRequest(this.#state, mode, key)),
      startReason: (text) =>
        this.#step(startReason(this.#state, { type: "reason", request, isPrinted, isCommand: false }, text)),
    });
  }

  /** A line that was emptied is no longer another command. */
  #edit(data: string): void {
    const { editor } = this.surface;
    editor.handleKey(data);
    const { mode } = this.#state;
    if (mode.type === "reason" && mode.isCommand && editor.isEmpty)
      this.#change({ mode: { ...mode, isCommand: false } });
  }

  async #act(command: TaskActionCommand): Promise<void> {
    await runTaskAction(this, command);
    this.#feed.refresh();
  }

  #openTranscript(id: string): void {
    this.#closeTranscript = new AbortController();
    const { signal } = this.#closeTranscript;
    this.#transcript = EMPTY_TASK_TRANSCRIPT;
    this.#buffer.clear();
    this.#inBackground(async () => {
      try {
        await followTranscript({
          id,
          feed: this.#feed,
          signal,
          show: (logged) => this.#showEvent(id, logged),
          onOmitted: () =>
            this.#buffer.add([
              this.surface.paint("dim", withCommandPrefix(this.io, `earlier events: rookery task logs ${id}`)),
            ]),
        });
      } finally {
        if (this.#closeTranscript.signal === signal) this.#transcript = EMPTY_TASK_TRANSCRIPT;
      }
    });
  }

  #showEvent(id: string, { event }: LoggedEvent): void {
    const stages = this.#state.tasks.find((task) => task.id === id)?.stages ?? [];
    const [transcript, lines] = foldTaskEvent(this.#transcript, event, stages, this.#style);
    this.#transcript = transcript;
    this.#buffer.add(lines);
    this.surface.refresh();
  }

  #setTasks(tasks: readonly ListedTask[], service: TaskService): void {
    const { server: before, readAt } = this.#state;
    const { server } = service;
    this.#change({ ...withTasks(this.#state, tasks, Date.now()), server });
    if (readAt !== undefined && before !== undefined && server === undefined)
      this.notice(`the server at ${before} has ended; tasks wait until one runs: rookery serve`, "yellow");
    else if (readAt !== undefined && server !== undefined && server !== before)
      this.notice(`connected to the server at ${server}`, "green");
    const stop = AbortSignal.any([this.signal, this.#feed.lost]);
    this.#askedSubjects.update(this.#state.tasks, service, stop);
    this.#changedFiles.update(this.#state.tasks, service, stop);
  }

  #change(change: Partial<CockpitState>): void {
    if (change.mode !== undefined && change.mode !== this.#state.mode) this.#choice.cancel();
    this.#state = { ...this.#state, ...change };
    this.surface.refresh();
  }

  #print(text: string): void {
    if (text === "") return;
    const lines = withCommandPrefix(this.io, text).split("\n");
    this.surface.print(lines.flatMap((line) => wrapStyled(line, this.surface.size.columns, "  ")));
  }

  /** Times in the list change once a second. */
  #tick(): void {
    this.#frame += 1;
    if (this.#state.openId !== undefined || this.#frame % TICKS_PER_SECOND === 0) this.surface.refresh();
  }

  /** Shows the error if the work fails. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      if (!this.signal.aborted) this.notice(formatError(error), "red");
    });
  }
}
