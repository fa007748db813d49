/** A session that an ACP client has open. Sends the client's prompts to the session, and its events to the client. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import type * as acp from "../../acp/schema.ts";
import type { McpServerSpec } from "../../domain/mcp.ts";
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionTools } from "../../domain/session-tools.ts";
import type { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/index.ts";
import { type EnvironmentVariables, deferred } from "../../stdx/index.ts";
import { RequestForwarder } from "./request-forwarder.ts";
import { answerSlashCommand, listSlashCommands } from "./commands.ts";
import { toStopReason } from "./failure.ts";
import { promptToInputParts, typedText } from "./input.ts";
import { LogView } from "./log-view.ts";
import { toModeState, loadConfigOptions, type SettingsChange, type EditorSettings } from "./editor-settings.ts";
import { changePermissions } from "./permissions.ts";

export interface ClientConversationOptions {
  readonly rookery: Rookery;
  readonly client: ClientPeer;
  readonly env: EnvironmentVariables;
  readonly sessionId: string;
  /** The working directory from the client. Default: the one in the log. */
  readonly cwd?: string | undefined;
  /** MCP servers that the client provides for the agent. */
  readonly mcpServers: readonly McpServerSpec[];
  /** Called for errors that no response can report. */
  readonly onFailure: (error: unknown) => void;
}

/** After these failures, the next prompt starts the agent again. */
const LOST_AGENT: ReadonlySet<string> = new Set(["agent_unavailable", "agent_exited"]);

export class ClientConversation implements AsyncDisposable {
  readonly id: string;
  readonly #options: ClientConversationOptions;
  readonly #log: LogView;
  readonly #forwarder: RequestForwarder;
  /** Ids of running turns that this client started. */
  readonly #ownTurns = new Set<string>();
  /** Opened on first use and kept open, so that no other process drives the session. */
  #session: Session | undefined;
  /** Settings chosen before the session was opened. Applied when it opens. */
  #pendingChange: SettingsChange = {};
  readonly #closing = new AbortController();
  #prompting: Promise<unknown> | undefined;
  /** The settings that were last sent to the client. */
  #sentSettings: EditorSettings | undefined;
  #commands = "";
  #watched: { readonly tools: SessionTools; readonly stop: () => void } | undefined;

  constructor(options: ClientConversationOptions, session?: Session) {
    const { rookery, client, sessionId, onFailure } = options;
    this.id = sessionId;
    this.#options = options;
    this.#session = session;
    this.#forwarder = new RequestForwarder({
      sessionId,
      client,
      cwd: () => this.#log.state.cwd,
      answer: (requestId, answer) => rookery.answer(sessionId, requestId, answer),
      onFailure,
    });
    this.#log = new LogView({
      store: rookery.store,
      sessionId,
      client,
      isOwn: (turnId) => this.#ownTurns.has(turnId),
      onLive: (event) => this.#handleEvent(event),
      onFailure,
    });
  }

  /** Reads the log to its end. Sends it to the client if `shown` is true. Rejects with `session_not_found`. */
  read(options: { readonly shown: boolean }): Promise<void> {
    return this.#log.read(options);
  }

  /** Starts sending new events and pending requests to the client. */
  follow({ driven }: { readonly driven: boolean }): void {
    this.#sentSettings = this.settings;
    this.#watchTools();
    this.#log.follow();
    if (driven) this.#forwardAll();
  }

  /** Sends the slash commands to the client if they have changed. */
  async sendCommands(): Promise<void> {
    const servers = this.#session?.tools.servers().servers ?? [];
    const availableCommands = listSlashCommands(servers.flatMap(({ prompts }) => prompts));
    const serialized = JSON.stringify(availableCommands);
    if (serialized === this.#commands) return;
    this.#commands = serialized;
    await this.#options.client.update(this.id, { sessionUpdate: "available_commands_update", availableCommands });
  }

  get busy(): boolean {
    return this.#prompting !== undefined;
  }

  get settings(): EditorSettings {
    return {
      ...this.#log.state,
      ...this.#pendingChange,
      ...(this.#options.cwd !== undefined && { cwd: this.#options.cwd }),
    };
  }

  get modes(): acp.SessionModeState {
    return toModeState(this.settings);
  }

  configOptions(): Promise<acp.SessionConfigOption[]> {
    return loadConfigOptions(this.settings, this.#options.env);
  }

  async prompt(prompt: readonly acp.ContentBlock[], requested: AbortSignal): Promise<acp.PromptResponse> {
    const signal = AbortSignal.any([requested, this.#closing.signal]);
    signal.addEventListener("abort", () => this.#forwarder.dismissTurn(), { once: true });
    try {
      const builtIn = answerSlashCommand(typedText(prompt), this.#log.state, this.settings);
      const answer = builtIn === undefined ? this.#runTurn(prompt, signal) : this.#sendText(builtIn);
      this.#prompting = answer.catch(() => undefined); // the response reports the error
      return await answer;
    } catch (error) {
      if (this.#closing.signal.aborted) return { stopReason: "cancelled" };
      throw error;
    } finally {
      this.#prompting = undefined;
    }
  }

  /** Cancels the running turn, even if another client started it. */
  cancel(): void {
    this.#forwarder.dismissTurn();
    this.#session?.cancel().catch(this.#options.onFailure);
  }

  /**
   * Changes settings. A permission policy applies immediately, even to a running turn of another process. A new agent or
   * model applies after the running turn. Resolves when the client has received the new settings.
   */
  async change(change: SettingsChange): Promise<void> {
    const { store } = this.#options.rookery;
    if (this.#session !== undefined) {
      await this.#session.change(change);
      this.#watchTools(); // another agent has other tools
      await this.sendCommands();
      return this.#log.waitUntilShown(this.#session.state.head);
    }
    if (change.permissions !== undefined) {
      await changePermissions(store, this.id, change.permissions);
      return this.#log.waitUntilShown((await store.summary(this.id))?.head ?? 0);
    }
    this.#pendingChange = { ...this.#pendingChange, ...change };
    await this.#sendSettings();
  }

  /** Cancels the running turn and releases the session. Keeps its log. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#forwarder.close();
    this.#closing.abort(new Error("the session is closing"));
    await this.#prompting;
    await this.#release();
    await this.#log.stop();
  }

  async #runTurn(prompt: readonly acp.ContentBlock[], signal: AbortSignal): Promise<acp.PromptResponse> {
    const { rookery } = this.#options;
    const session = this.#session ?? (await this.#openSession());
    const typed = typedText(prompt);
    const expanded = typed.startsWith("/") ? await session.expand(typed, { signal }) : typed;
    const input =
      expanded === typed || typeof expanded === "string"
        ? await promptToInputParts(prompt, rookery.store)
        : [...expanded, ...(await promptToInputParts(prompt.slice(1), rookery.store))];
    await waitUntilIdle(session, signal); // directly before the prompt, so that no other input comes in between
    signal.throwIfAborted();
    const turn = session.prompt(input, { signal });
    this.#ownTurns.add(turn.id);
    try {
      const outcome = await turn.outcome.catch(async (error: unknown) => {
        await this.#release().catch(() => undefined); // a failed session cannot write anymore
        throw error;
      });
      await this.#log.waitUntilShown(session.state.head);
      if (outcome.status === "failed" && LOST_AGENT.has(outcome.code)) await this.#release();
      return { stopReason: toStopReason(outcome), _meta: { rookery: { usage: session.state.usage } } };
    } finally {
      this.#ownTurns.delete(turn.id);
    }
  }

  async #sendText(text: string): Promise<acp.PromptResponse> {
    const content = { type: "text" as const, text };
    await this.#options.client.update(this.id, { sessionUpdate: "agent_message_chunk", content });
    return { stopReason: "end_turn" };
  }

  /** Opens the session, which also resumes an interrupted turn. */
  async #openSession(): Promise<Session> {
    const { rookery, cwd } = this.#options;
    const session = await rookery.openSession({
      id: this.id,
      attended: true,
      mcpServers: this.#options.mcpServers,
      ...(cwd !== undefined && cwd !== this.#log.state.cwd && { cwd }),
      ...this.#pendingChange,
    });
    this.#session = session;
    this.#pendingChange = {};
    this.#watchTools();
    await this.sendCommands();
    if (session.resumed !== undefined) this.#forwardAll();
    return session;
  }

  /** Updates the slash commands when MCP servers come and go. */
  #watchTools(): void {
    const tools = this.#session?.tools;
    if (tools === this.#watched?.tools) return;
    this.#watched?.stop();
    const stop = tools?.onChange(() => void this.sendCommands().catch(this.#options.onFailure));
    this.#watched = tools === undefined || stop === undefined ? undefined : { tools, stop };
  }

  async #release(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close({ cancelParked: true }); // its prompt gets an answer
  }

  #forwardAll(): void {
    for (const request of this.#log.pendingRequests) this.#forwarder.forward(request);
  }

  async #handleEvent(event: SessionEvent): Promise<void> {
    switch (event.type) {
      case "permission.requested":
      case "question.asked":
        this.#forwarder.forward(event);
        return;
      case "permission.resolved":
      case "question.answered":
        this.#forwarder.withdraw(event.requestId);
        return;
      case "turn.ended":
        this.#forwarder.dismissTurn();
        return;
      case "session.opened": // follows every change of settings
        await this.#sendSettings();
        return;
      default: // no other event needs a reaction
    }
  }

  async #sendSettings(): Promise<void> {
    const { client } = this.#options;
    const sent = this.#sentSettings;
    const { permissions: currentModeId, model, agent } = (this.#sentSettings = this.settings);
    if (currentModeId !== sent?.permissions) {
      await client.update(this.id, { sessionUpdate: "current_mode_update", currentModeId });
    } else if (model === sent.model && agent === sent.agent) return;
    const configOptions = await this.configOptions();
    await client.update(this.id, { sessionUpdate: "config_option_update", configOptions });
  }
}

/** Waits for interrupted turns and queued inputs. Aborting the signal cancels the turn that runs at that time. */
async function waitUntilIdle(session: Session, signal: AbortSignal): Promise<void> {
  const cancelled = deferred();
  const cancel = (): void =>
    void session.cancel().then(
      () => cancelled.resolve(),
      (error: unknown) => cancelled.reject(error),
    );
  if (signal.aborted) return;
  signal.addEventListener("abort", cancel, { once: true });
  try {
    await Promise.race([session.idle(), cancelled.promise]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
