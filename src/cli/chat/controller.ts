/** An interactive conversation: keys and commands go to a session, and everything on the screen comes from its log. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { Rookery } from "../../rookery.ts";
import type { Deliver } from "../../session/session.ts";
import { deferred } from "../../stdx/deferred.ts";
import { EXIT, type ExitCode, formatError } from "../exit.ts";
import { formatAge } from "../format.ts";
import { type Io, withCommandPrefix } from "../io.ts";
import type { Highlighter } from "../markdown/style.ts";
import type { Color } from "../paint.ts";
import { stripControls, toSingleLine } from "../sanitize.ts";
import type { LiveRegion } from "../tui/inline-screen.ts";
import type { PromptSurface, SurfaceOwner } from "../tui/prompt-surface.ts";
import { formatStatusLine, type StatusFact } from "../tui/status-line.ts";
import type { TerminalInput } from "../tui/terminal-input.ts";
import { readBranch } from "./branch.ts";
import { composeLiveRegion } from "./compose.ts";
import { ChatConnection, type ChatSettings } from "./connection.ts";
import { listConversations } from "./find-conversation.ts";
import { type ChatBlock, chatFromSummary, type ChatState, EMPTY_CHAT, foldChatEvent } from "./fold.ts";
import { openForm } from "./form-input.ts";
import type { ChatHost } from "./host.ts";
import { ChatKeys } from "./keys.ts";
import { renderMode } from "./mode.ts";
import { renderRequest } from "./permission-keys.ts";
import { runSlashCommand } from "./slash-commands.ts";
import { readLogTail } from "./tail.ts";
import { withTrustQuestion } from "./trust-question.ts";
import { chatFacts, renderChatBlock, renderProgress } from "./view.ts";

/** Which conversation to start with. */
export type ChatStart =
  | { readonly type: "new" }
  | { readonly type: "continue" }
  | { readonly type: "pick" }
  | { readonly type: "session"; readonly find: (rookery: Rookery) => Promise<SessionSummary> };

export interface ChatOptions {
  readonly io: Io;
  readonly surface: PromptSurface;
  readonly cwd: string;
  readonly start: ChatStart;
  readonly settings: ChatSettings;
}

const SPINNER_MS = 120;
const SPINNER_FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export class Chat implements SurfaceOwner, ChatHost {
  readonly io: Io;
  readonly cwd: string;
  readonly surface: PromptSurface;
  readonly keys: ChatKeys;
  readonly #options: ChatOptions;
  readonly #stop = new AbortController();
  readonly #quit = deferred<ExitCode>();
  #connection: ChatConnection | undefined;
  #state: ChatState = EMPTY_CHAT;
  #lastBlock: ChatBlock["type"] | undefined;
  #following: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  /** Inputs are sent in the order in which they were typed. */
  #sending: Promise<void> = Promise.resolve();
  #branch: string | undefined;
  #note: string | undefined = "starting";
  #offered: SessionSummary | undefined;
  #highlight: Highlighter | undefined;
  #frame = 0;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.io = options.io;
    this.cwd = options.cwd;
    this.surface = options.surface;
    this.keys = new ChatKeys(this.surface, {
      submit: (text, deliver) => this.#submit(text, deliver),
      interrupt: () => this.#interrupt(),
      quit: () => this.quit(),
      answer: (requestId, answer) => this.#inBackground(async () => this.connection.answer(requestId, answer)),
      showRequest: (request) => this.#print(renderRequest(request, this.#style), "lines"),
      openForm: (request, signal) => {
        const form = openForm(this.io, request.question ?? { message: "" }, {
          print: (text) => this.#print(stripControls(text).trimEnd().split("\n"), "lines"),
          signal,
        });
        this.#inBackground(async () => {
          const answer = await form.answer.catch(() => undefined); // answered elsewhere, or the chat ends
          if (answer !== undefined && !signal.aborted) await this.connection.answer(request.requestId, answer);
        });
        return form;
      },
      warn: (text) => this.notice(text, "yellow"),
    });
  }

  /** Resolves when the person quits. */
  async run(): Promise<ExitCode> {
    const { io, cwd, settings } = this.#options;
    await using rookery = await Rookery.open({ env: io.env, cwd });
    this.#connection = new ChatConnection({ rookery, env: io.env, cwd, settings, sessionId: undefined });
    const spinner = setInterval(() => this.#spin(), SPINNER_MS).unref();
    this.#inBackground(() => this.#start(rookery));
    this.#inBackground(async () => {
      this.#highlight = (await import("../markdown/highlight.ts")).highlightCode;
    });
    this.surface.setOwner(this);
    const code = await this.#quit.promise;
    clearInterval(spinner);
    this.keys[Symbol.dispose]();
    this.#setNote("leaving");
    await this.#connection[Symbol.asyncDispose]();
    await this.#stopFollowing();
    const id = this.#connection.sessionId;
    if (id !== undefined) this.notice(`session ${id} · continue with: rookery chat -c`, "dim");
    return code;
  }

  /** Defined once the owner of the surface is set. */
  get connection(): ChatConnection {
    if (this.#connection === undefined) throw new Error("the chat has not started");
    return this.#connection;
  }

  get state(): ChatState {
    return this.#state;
  }

  quit(code: ExitCode = EXIT.done): void {
    this.#quit.resolve(code);
  }

  /** Prints lines that are not part of the conversation. */
  notice(text: string, color?: Color): void {
    const lines = withCommandPrefix(this.io, stripControls(text));
    this.#printBlock({ type: "lines", text: color === undefined ? lines : this.surface.paint(color, lines) });
  }

  fail(error: unknown): void {
    const line = withCommandPrefix(this.io, toSingleLine(formatError(error)));
    this.#printBlock({ type: "lines", text: `${this.surface.paint("red", "!")} ${line}` });
  }

  /** Continues another session in this chat. */
  async continueSession(summary: SessionSummary): Promise<void> {
    const { rookery } = this.connection;
    const { io, cwd } = this;
    await this.connection[Symbol.asyncDispose]();
    await this.#stopFollowing();
    const { settings } = this.#options;
    this.#connection = new ChatConnection({ rookery, env: io.env, cwd, settings, sessionId: summary.id });
    await this.#showTail(rookery, summary);
    await this.#openAgent();
  }

  /** Changes the agent, the model or the permissions. */
  async change(settings: ChatSettings): Promise<void> {
    await this.connection.change(settings);
    if (this.connection.sessionId !== undefined) return; // the log shows it
    const { agent = this.#state.agent, model = this.#state.model, permissions = this.#state.permissions } = settings;
    this.#state = { ...this.#state, agent, model, permissions };
    this.surface.refresh();
  }

  /** Sends a prompt. It starts a turn, or is queued if one runs. */
  async send(text: string, deliver: Deliver = this.keys.deliver): Promise<void> {
    const isNew = this.connection.sessionId === undefined;
    await this.#openAgent();
    if (isNew) this.#follow(0);
    await this.connection.send(text, deliver, this.#stop.signal);
  }

  handleInput(input: TerminalInput): void {
    this.keys.handleInput(input);
  }

  handleSubmit(text: string): void {
    this.keys.handleSubmit(text);
  }

  compose(): LiveRegion {
    const { rows } = this.surface.size;
    const { paint } = this.surface;
    const style = this.#style;
    const frame = SPINNER_FRAMES[this.#frame % SPINNER_FRAMES.length] ?? "";
    const facts = chatFacts(this.#state, { directory: this.cwd, branch: this.#branch, note: this.#note });
    return composeLiveRegion({
      rows,
      progress: renderProgress(this.#state, Date.now(), frame, style),
      mode: renderMode(this.keys.mode, this.surface.editor, { width: style.width, rows, paint }),
      status: paint("dim", formatStatusLine([...this.#hints(), ...facts], style.width)),
    });
  }

  get #style() {
    return { width: this.surface.size.columns, paint: this.surface.paint, highlight: this.#highlight };
  }

  #hints(): StatusFact[] {
    if (this.keys.isQuitAsked) return [{ text: "press Ctrl-C again to quit", priority: 20 }];
    const offer = this.#offered;
    if (offer === undefined || !this.surface.editor.isEmpty) return [];
    const title = toSingleLine(offer.title ?? "", 40);
    return [{ text: `Enter continues "${title}" (${formatAge(offer.updatedAt, Date.now())})`, priority: 10 }];
  }

  async #start(rookery: Rookery): Promise<void> {
    const { start } = this.#options;
    this.#inBackground(async () => this.#setBranch(await readBranch(this.cwd)));
    const found = await this.#findStart(rookery);
    if (start.type === "new") {
      this.#offered = found;
      await this.#showConfiguredAgent();
    } else if (found !== undefined) await this.continueSession(found);
    else {
      if (start.type === "continue")
        this.notice("there is no conversation in this directory yet; this is a new one", "dim");
      await this.#showConfiguredAgent();
    }
  }

  async #findStart(rookery: Rookery): Promise<SessionSummary | undefined> {
    const { start } = this.#options;
    switch (start.type) {
      case "session":
        return start.find(rookery);
      case "new":
      case "continue":
        return (await listConversations(rookery.store, this.cwd, 1))[0];
      case "pick":
        return this.pickConversation();
    }
  }

  /** Lets the person choose a conversation of this directory. */
  async pickConversation(): Promise<SessionSummary | undefined> {
    const found = await listConversations(this.connection.rookery.store, this.cwd);
    if (found.length === 0) {
      this.notice("there is no conversation in this directory yet", "dim");
      return undefined;
    }
    const items = found.map(({ id, title = "", updatedAt, agent, turns }) => ({
      value: id,
      label: toSingleLine(title === "" ? id : title, 60),
      detail: `${formatAge(updatedAt, Date.now())} · ${agent} · ${turns} ${turns === 1 ? "turn" : "turns"}`,
    }));
    const chosen = await this.keys.select("Continue a conversation", items);
    return found.find(({ id }) => id === chosen?.value);
  }

  /** The agent that the first prompt starts. */
  async #showConfiguredAgent(): Promise<void> {
    const { loadConfig, resolveAgent } = await import("../../config/load.ts");
    const config = await loadConfig({ cwd: this.cwd, env: this.io.env, trust: "leave_out" });
    const { settings } = this.#options;
    const { name, model } = resolveAgent(config, settings.agent);
    const { permissions } = settings;
    this.#state = { ...this.#state, agent: name, model: settings.model ?? model, permissions };
    this.#setNote(undefined);
  }

  async #showTail(rookery: Rookery, summary: SessionSummary): Promise<void> {
    const { events, isPartial } = await readLogTail(rookery.store, summary.id);
    this.#offered = undefined;
    this.#state = chatFromSummary(summary);
    if (isPartial) this.notice(`earlier messages: rookery sessions show ${summary.id}`, "dim");
    for (const event of events) this.#apply(event);
    this.#state = { ...this.#state, usage: { ...this.#state.usage, ...summary.usage } };
    this.#follow(events.at(-1)?.seq ?? 0);
  }

  async #openAgent(): Promise<void> {
    if (this.connection.session !== undefined) return;
    this.#setNote(`starting ${this.#state.agent === "" ? "the agent" : this.#state.agent}`);
    try {
      const ask = async (heading: string): Promise<boolean> => {
        this.notice(heading, "yellow");
        return this.keys.confirm("Trust it?");
      };
      await withTrustQuestion({ cwd: this.cwd, env: this.io.env, ask }, () => this.connection.open());
    } finally {
      this.#setNote(undefined);
    }
    if (this.connection.session === undefined)
      this.notice("another process drives this session; what you type is delivered to it", "dim");
  }

  #follow(after: number): void {
    const { rookery, sessionId = "" } = this.connection;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const event of rookery.store.follow({ sessionId, after, signal: stop.signal })) this.#apply(event);
    };
    const ended = follow().catch((error: unknown) => {
      if (!stop.signal.aborted) this.fail(error);
    });
    this.#following = { stop, ended };
  }

  /** Shows what was recorded until now, and stops. */
  async #stopFollowing(): Promise<void> {
    const { sessionId } = this.connection;
    this.#following?.stop.abort();
    await this.#following?.ended;
    this.#following = undefined;
    if (sessionId === undefined) return;
    const { events } = await this.connection.rookery.store.read({ sessionId, after: this.#state.head });
    for (const event of events) this.#apply(event);
  }

  #apply(event: SessionEvent): void {
    if (event.seq <= this.#state.head) return;
    const { state, blocks } = foldChatEvent(this.#state, event, this.surface.paint);
    const hasNewRequests = state.requests !== this.#state.requests;
    this.#state = state;
    for (const block of blocks) this.#printBlock(block);
    if (hasNewRequests) this.keys.setRequests(state.requests);
    if (event.type === "turn.ended") this.#inBackground(async () => this.#setBranch(await readBranch(this.cwd)));
    this.surface.refresh();
  }

  #submit(text: string, deliver: Deliver): void {
    const prompt = text.trim();
    const offered = this.#offered;
    this.#offered = undefined;
    if (prompt === "" && offered !== undefined) return this.#inBackground(() => this.continueSession(offered));
    if (prompt === "") return;
    this.surface.editor.addToHistory(prompt);
    this.#sending = this.#sending.then(async () => {
      try {
        if (!(await runSlashCommand(this, prompt))) await this.send(prompt, deliver);
      } catch (error) {
        this.fail(error);
      }
    });
  }

  #interrupt(): void {
    if (this.#state.runningSince !== undefined) this.#inBackground(() => this.connection.cancel());
  }

  #printBlock(block: ChatBlock): void {
    this.#print(renderChatBlock(block, this.#lastBlock, this.#style), block.type);
  }

  #print(lines: readonly string[], type: ChatBlock["type"]): void {
    this.surface.print(lines);
    this.#lastBlock = type;
  }

  #setNote(note: string | undefined): void {
    this.#note = note;
    this.surface.refresh();
  }

  #setBranch(branch: string | undefined): void {
    this.#branch = branch;
    this.surface.refresh();
  }

  #spin(): void {
    this.#frame += 1;
    if (this.#state.runningSince !== undefined) this.surface.refresh();
  }

  /** Shows the error if the work fails. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.fail(error));
  }
}
