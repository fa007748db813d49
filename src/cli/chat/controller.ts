/** An interactive conversation: keys and commands go to a session, and everything on the screen comes from its log. */
import { RookeryError } from "../../domain/errors.ts";
import { formatInput } from "../../domain/events.ts";
import { shortId } from "../../domain/ids.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { Rookery } from "../../rookery.ts";
import type { Deliver } from "../../session/method-types.ts";
import { deferred } from "../../stdx/deferred.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Io } from "../io.ts";
import type { Color } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import type { PromptSurface, SurfaceOwner } from "../tui/prompt-surface.ts";
import type { TerminalInput } from "../tui/terminal-input.ts";
import { ChatStatus } from "./screen/chat-status.ts";
import { MIN_ROWS_FOR_STATUS } from "./screen/compose.ts";
import { ChatConnection, type ChatSettings } from "./connection.ts";
import type { ChatState, CommandMark } from "./conversation/fold.ts";
import { findFirstAgent } from "./start/first-agent.ts";
import { formatNoneReady, formatNotReady, renderGreeting } from "./start/greeting.ts";
import type { ChatHost } from "./host.ts";
import { ChatKeys } from "./input/keys.ts";
import { renderLiveRegion } from "./screen/live-region.ts";
import { ChatLogView } from "./conversation/log-view.ts";
import { ChatOutbox } from "./outbox/outbox.ts";
import { SessionDrafts } from "./outbox/session-drafts.ts";
import { pickConversation } from "./start/pick-conversation.ts";
import { createRequestActions } from "./input/request-actions.ts";
import type { PromptHistory } from "./input/history.ts";
import { PermissionCycle } from "./input/permission-cycle.ts";
import { prepareEditor } from "./input/prepare-editor.ts";
import { ChatShell } from "./outbox/shell-command.ts";
import { runSlashCommand } from "./slash-commands.ts";
import { type ChatStart, findStartConversation } from "./start/start.ts";
import { withTrustQuestion } from "../questions/trust-question.ts";

export interface ChatOptions {
  readonly io: Io;
  readonly surface: PromptSurface;
  readonly cwd: string;
  readonly start: ChatStart;
  readonly settings: ChatSettings;
  /** What to send first, as if the person had typed it. */
  readonly prompt?: string | undefined;
}

export class Chat implements SurfaceOwner, ChatHost {
  readonly io: Io;
  readonly cwd: string;
  readonly surface: PromptSurface;
  readonly keys: ChatKeys;
  readonly #options: ChatOptions;
  readonly #stop = new AbortController();
  readonly #quit = deferred<ExitCode>();
  #connection: ChatConnection | undefined;
  readonly #view: ChatLogView;
  readonly #status: ChatStatus;
  #isInterrupting = false;
  #offered: SessionSummary | undefined;
  /** The other process that drives the session, once the person knows it. */
  #namedDriver: string | undefined;
  #history: PromptHistory | undefined;
  readonly #shell = new ChatShell();
  readonly #outbox: ChatOutbox;
  readonly #permissionCycle = new PermissionCycle(this);

  constructor(options: ChatOptions) {
    this.#options = options;
    this.io = options.io;
    this.cwd = options.cwd;
    this.surface = options.surface;
    this.#status = new ChatStatus(this.surface);
    this.#view = new ChatLogView({
      io: this.io,
      surface: this.surface,
      onEvent: (event, before) => {
        const { type } = event;
        if (type === "input.withdrawn") this.#showWithdrawn(event.inputId, before);
        if (this.state.requests !== before.requests) this.keys.setRequests(this.state.requests);
        if (type !== "turn.ended") return;
        this.#isInterrupting = false;
        this.#inBackground(() => this.#status.readBranch(this.cwd));
        this.#outbox.sendFollowUp();
      },
    });
    this.#outbox = new ChatOutbox({
      runCommand: (text) => this.#runCommand(text),
      send: (prompt, deliver, context) => this.#sendNow(prompt, deliver, context),
      withdraw: async (queue) => (this.connection.sessionId === undefined ? [] : this.connection.withdraw(queue)),
      canHoldFollowUp: () => {
        const { session, hasAttachments } = this.connection; // another process would not send it
        return this.state.runningSince !== undefined && !hasAttachments && session !== undefined;
      },
      hasQueue: () => this.state.queue.length > 0,
      returnText: (text) => this.keys.returnText(text),
      prependText: (text) => this.keys.prependText(text),
      fail: (error) => this.fail(error),
      refresh: () => this.surface.refresh(),
    });
    this.keys = new ChatKeys(this.surface, {
      submit: (text, deliver) => this.#submit(text, deliver),
      interrupt: () => this.#interrupt(),
      dropLastOutput: () => this.#outbox.outputs.dropLast(),
      cyclePermissions: () => this.#inBackground(async () => this.#permissionCycle.next()),
      isBusy: () => this.#shell.isRunning || this.state.runningSince !== undefined,
      quit: () => this.quit(),
      ...createRequestActions(this, {
        view: this.#view,
        signal: this.#stop.signal,
        inBackground: (work) => this.#inBackground(work),
      }),
      warn: (text) => this.notice(text, "yellow"),
    });
  }

  /** Resolves when the person quits. */
  async run(): Promise<ExitCode> {
    const { io, cwd, settings } = this.#options;
    await using rookery = await Rookery.open({ env: io.env, cwd });
    this.#connection = new ChatConnection({ rookery, env: io.env, cwd, settings, sessionId: undefined });
    const spinner = this.#status.startSpinner(
      () => this.state.runningSince !== undefined || this.#outbox.unsent.length > 0,
    );
    this.#history = await prepareEditor(this, rookery.home); // before any prompt, which it keeps
    this.#inBackground(async () => {
      try {
        await this.#startWithPrompt();
      } finally {
        this.#view.highlight = (await import("../markdown/highlight.ts")).highlightCode; // the prompt does not wait for it
      }
    });
    this.surface.setOwner(this);
    const code = await this.#quit.promise;
    spinner[Symbol.dispose]();
    this.keys[Symbol.dispose]();
    this.#status.setNote("leaving");
    await this.#keepUnsent(new SessionDrafts(rookery.home));
    await this.#connection[Symbol.asyncDispose]();
    const id = this.#connection.sessionId;
    if (id !== undefined) {
      await this.#view.close(rookery.store, id);
      this.notice(`continue with: rookery chat ${shortId(id)}`, "dim");
    }
    return code;
  }

  /** Defined once the owner of the surface is set. */
  get connection(): ChatConnection {
    if (this.#connection === undefined) throw new Error("the chat has not started");
    return this.#connection;
  }

  get state(): ChatState {
    return this.#view.state;
  }

  quit(code: ExitCode = EXIT.done): void {
    this.#quit.resolve(code);
  }

  notice(text: string, color?: Color): void {
    this.#view.notice(text, color);
  }

  print(lines: readonly string[]): void {
    this.#view.print(lines);
  }

  echo(command: string, mark?: CommandMark): void {
    this.#view.echo(command, mark);
  }

  fail(error: unknown): void {
    this.#view.fail(error);
  }

  /** Keeps unsent inputs for the next chat of the session. Prints them if that fails or there is no session yet. */
  async #keepUnsent(drafts: SessionDrafts): Promise<void> {
    const id = this.connection.sessionId;
    const waiting = this.#outbox.close();
    for (const text of waiting.filter(isShellCommand)) this.notice(`not run: ${text}`, "dim");
    const prompts = waiting.filter((text) => !isShellCommand(text));
    const unsent = [...prompts, this.keys.promptText].filter((text) => text.trim() !== "");
    if (unsent.length === 0) return;
    const isKept = id !== undefined && (await drafts.keep(id, unsent.join("\n\n")));
    for (const text of unsent) this.notice(`not sent: ${isKept ? toSingleLine(text, 80) : text}`, "dim");
    if (isKept) this.notice("the next chat of this session has it in its input", "dim");
  }

  /** Continues another session in this chat. */
  async continueSession(summary: SessionSummary): Promise<void> {
    const { rookery } = this.connection;
    await this.#replaceConnection(this.#options.settings, summary.id);
    await this.#view.open(rookery.store, summary);
    const draft = await new SessionDrafts(rookery.home).take(summary.id);
    if (draft !== undefined) this.keys.prependText(draft);
    await this.#openAgent();
  }

  /**
   * Leaves the conversation for an empty one with the same settings. The next prompt opens its session. Rejects with
   * `turn_in_progress` if this chat runs a turn, which leaving would cancel.
   */
  async startNewConversation(): Promise<void> {
    const { session, sessionId } = this.connection;
    if (session !== undefined && this.state.runningSince !== undefined)
      throw new RookeryError("turn_in_progress", "the agent still works; press Esc to interrupt it, then try again");
    const settings = await this.connection.currentSettings();
    await this.#replaceConnection(settings, undefined);
    const { state } = await findFirstAgent(settings, { cwd: this.cwd, env: this.io.env });
    this.#view.reset(state);
    this.keys.setRequests([]);
    const before = sessionId === undefined ? "" : `; the last one: rookery chat ${shortId(sessionId)}, or /resume`;
    this.notice(`a new conversation${before}`, "dim");
  }

  /** Releases the session of the chat. */
  async #replaceConnection(settings: ChatSettings, sessionId: string | undefined): Promise<void> {
    const { rookery, sessionId: before } = this.connection;
    const { io, cwd } = this;
    this.#outbox.returnFollowUps();
    await this.connection[Symbol.asyncDispose]();
    if (before !== undefined) await this.#view.close(rookery.store, before);
    this.#connection = new ChatConnection({ rookery, env: io.env, cwd, settings, sessionId });
    this.#offered = undefined;
    this.#namedDriver = undefined;
  }

  /** Changes the agent, the model or the permissions. */
  async change(settings: ChatSettings): Promise<void> {
    if (settings.agent !== undefined && this.connection.sessionId !== undefined)
      this.#status.setNote(`starting ${settings.agent}`);
    try {
      await this.connection.change(settings);
    } finally {
      this.#status.setNote(undefined);
    }
    if (this.connection.sessionId !== undefined) return; // the log shows it
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const isOther = settings.agent !== undefined && settings.agent !== this.state.agent;
    this.#view.setState({ ...Object.fromEntries(given), ...(isOther && { backend: undefined }) });
  }

  /** Sends a prompt. It starts a turn, or is queued if one runs. */
  async send(text: string, deliver: Deliver = this.keys.deliver): Promise<void> {
    await this.#outbox.send(text, deliver);
  }

  async #sendNow(text: string, deliver: Deliver, context: readonly string[]): Promise<string | undefined> {
    const isNew = this.connection.sessionId === undefined;
    await this.#openAgent();
    const { rookery, sessionId } = this.connection;
    if (isNew && sessionId !== undefined) this.#view.follow(rookery.store, sessionId, 0);
    return this.connection.send(text, { deliver, context, signal: this.#stop.signal });
  }

  handleInput(input: TerminalInput): void {
    this.keys.handleInput(input);
  }

  handleSubmit(text: string): void {
    this.keys.handleSubmit(text);
  }

  compose(): LiveRegion {
    const style = { ...this.#view.style, ...(this.#isInterrupting && { escapeHint: "interrupting" }) };
    const { state, surface, keys, cwd: directory } = this;
    const home = this.io.env["HOME"];
    return renderLiveRegion(
      { state, surface, keys, outbox: this.#outbox, status: this.#status, offered: this.#offered, directory, home },
      style,
      Date.now(),
    );
  }

  /** Sends the prompt of the command line, or puts it into the input if it cannot be sent. */
  async #startWithPrompt(): Promise<void> {
    const { prompt } = this.#options;
    let isReady = false;
    try {
      isReady = await this.#start();
    } finally {
      if (prompt !== undefined && !isReady) this.keys.returnText(prompt);
    }
    if (prompt !== undefined && isReady) this.#submit(prompt, this.keys.deliver);
  }

  /** Resolves with false if a prompt cannot be sent yet. */
  async #start(): Promise<boolean> {
    const { start } = this.#options;
    this.#inBackground(() => this.#status.readBranch(this.cwd));
    if (start.type === "pick") this.#status.setNote(undefined);
    const found = await findStartConversation(this, start);
    if (found === "cancelled") {
      this.quit(); // what is typed next is meant for the shell
      return false;
    }
    const hasPrompt = this.connection.sessionId !== undefined || this.#outbox.unsent.length > 0; // typed meanwhile
    if (start.type === "new") this.#offered = hasPrompt ? undefined : found;
    else if (found !== undefined) {
      await this.continueSession(found);
      return true;
    } else if (start.type === "continue")
      this.notice("there is no conversation in this directory yet; this is a new one", "dim");
    return this.#greet();
  }

  pickConversation(): Promise<SessionSummary | undefined> {
    return pickConversation(this);
  }

  /** Shows how to start, and the agent that the first prompt starts. Resolves with false if the agent is not ready. */
  async #greet(): Promise<boolean> {
    const { columns: width, rows } = this.surface.size;
    if (rows >= MIN_ROWS_FOR_STATUS) this.print(renderGreeting(this.io.version, { width, paint: this.surface.paint }));
    const { state, missing, isChosen } = await findFirstAgent(this.#options.settings, {
      cwd: this.cwd,
      env: this.io.env,
    });
    this.#view.setState(state);
    this.#status.setNote(undefined);
    if (missing !== undefined)
      this.notice(isChosen ? formatNotReady(state.agent, missing) : formatNoneReady(missing), "yellow");
    return missing === undefined;
  }

  async #openAgent(): Promise<void> {
    if (this.connection.session !== undefined) return;
    this.#status.setNote(`starting ${this.state.agent === "" ? "the agent" : this.state.agent}`);
    try {
      const ask = async (heading: string): Promise<boolean> => {
        this.notice(heading, "yellow");
        return this.keys.confirm("Trust it?");
      };
      await withTrustQuestion({ cwd: this.cwd, env: this.io.env, ask }, () => this.connection.open());
    } finally {
      this.#status.setNote(undefined);
    }
    const driver = this.connection.session === undefined ? await this.connection.describeDriver() : undefined;
    if (driver !== undefined && driver !== this.#namedDriver)
      this.notice(`${driver} drives this session; it gets what you type and answer`, "dim");
    this.#namedDriver = driver;
  }

  #submit(text: string, deliver: Deliver): void {
    const prompt = text.trim();
    const offered = this.#offered;
    this.#offered = undefined;
    if (prompt === "" && offered !== undefined) return this.#inBackground(() => this.continueSession(offered));
    if (prompt === "") return;
    this.surface.editor.addToHistory(prompt);
    this.#inBackground(async () => this.#history?.add(prompt));
    this.#outbox.submit(prompt, deliver);
  }

  /** Returns false if the text is for the agent. */
  async #runCommand(text: string): Promise<boolean> {
    if (!isShellCommand(text)) return runSlashCommand(this, text);
    const command = text.slice(1).trim();
    if (command === "") return true;
    this.#status.setNote(`running ${toSingleLine(command, 40)} · Esc ends it`);
    try {
      const output = await this.#shell.run(this, command);
      if (output !== undefined) this.#outbox.outputs.add(output);
    } finally {
      this.#status.setNote(undefined);
    }
    return true;
  }

  #interrupt(): void {
    if (this.#shell.isRunning) return this.#shell.end();
    if (this.state.runningSince === undefined) this.#outbox.outputs.take();
    if (this.state.runningSince === undefined) return this.#outbox.returnFollowUps();
    this.#isInterrupting = true;
    this.#inBackground(() => this.#interruptTurn());
  }

  /** Withdraws queued inputs, so that they do not start a turn of their own, and cancels the turn. */
  async #interruptTurn(): Promise<void> {
    const { connection } = this;
    const queue = connection.session?.state.queue ?? this.state.queue;
    try {
      await this.#outbox.withdraw(queue);
    } finally {
      await connection.cancel().catch((error: unknown) => {
        this.#isInterrupting = false;
        throw error;
      });
    }
  }

  /** Says that a message was withdrawn, here earlier or in another chat, unless it is in the input of this chat. */
  #showWithdrawn(inputId: string, { queue }: ChatState): void {
    if (this.#outbox.forgetWithdrawn(inputId)) return;
    const input = queue.find((queued) => queued.inputId === inputId)?.input;
    if (input !== undefined) this.notice(`withdrawn: ${toSingleLine(formatInput(input), 80)}`, "dim");
  }

  /** Shows the error if the work fails. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.fail(error));
  }
}

/** True for `!command`. A draft must not run one before the prompts that follow it. */
function isShellCommand(text: string): boolean {
  return text.startsWith("!");
}
