/** One session that a client has open: prompts go to the session, and what its log says goes to the client. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import type * as acp from "../../acp/schema.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import type { McpServerSpec } from "../../domain/mcp.ts";
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionTools } from "../../domain/session-tools.ts";
import type { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/index.ts";
import { deferred } from "../../stdx/index.ts";
import { Asking } from "./asking.ts";
import { answerTo, commandsWith } from "./commands.ts";
import { stopReasonOf } from "./failure.ts";
import { inputOf, typedText } from "./input.ts";
import { LogView } from "./log-view.ts";
import { modesOf, optionsOf, type Choice, type Settings } from "./options.ts";
import { changePermissions } from "./permissions.ts";

export interface ConversationOptions {
  readonly rookery: Rookery;
  readonly client: ClientPeer;
  readonly env: EnvironmentVariables;
  readonly sessionId: string;
  /** Where the client says that it works; undefined where the log says it. */
  readonly cwd?: string | undefined;
  /** What the client brings for the agent. */
  readonly mcpServers: readonly McpServerSpec[];
  /** Something failed that nobody asked for. */
  readonly onFailure: (error: unknown) => void;
}

/** Failures after which the next prompt needs an agent that is started anew. */
const LOST_AGENT: ReadonlySet<string> = new Set(["agent_unavailable", "agent_exited"]);

export class Conversation implements AsyncDisposable {
  readonly id: string;
  readonly #options: ConversationOptions;
  readonly #log: LogView;
  readonly #asking: Asking;
  /** Turns that the client began. */
  readonly #own = new Set<string>();
  /** Held from the first need on, so that nobody else drives the session meanwhile. */
  #session: Session | undefined;
  /** Chosen while the session was not held; applied when it is. */
  #chosen: Choice = {};
  readonly #closing = new AbortController();
  #prompting: Promise<unknown> | undefined;
  /** The settings that the client knows. */
  #told: Settings | undefined;
  #commands = "";
  #watched: { readonly tools: SessionTools; readonly stop: () => void } | undefined;

  constructor(options: ConversationOptions, session?: Session) {
    const { rookery, client, sessionId, onFailure } = options;
    this.id = sessionId;
    this.#options = options;
    this.#session = session;
    this.#asking = new Asking({
      sessionId,
      client,
      answer: (requestId, answer) => rookery.answer(sessionId, requestId, answer),
      onBroken: onFailure,
    });
    this.#log = new LogView({
      store: rookery.store,
      sessionId,
      client,
      isOwn: (turnId) => this.#own.has(turnId),
      onLive: (event) => this.#happened(event),
      onBroken: onFailure,
    });
  }

  /** Reads the log as far as it goes, and shows it where that is wanted. Rejects with `session_not_found`. */
  read(options: { readonly shown: boolean }): Promise<void> {
    return this.#log.read(options);
  }

  /** From here on the client is shown what happens, and asked what has to be decided. */
  follow({ driven }: { readonly driven: boolean }): void {
    this.#told = this.settings;
    this.#watchTools();
    this.#log.follow();
    if (driven) this.#askAll();
  }

  /** What can be typed after a slash, where it is not what the client knows already. */
  async tellCommands(): Promise<void> {
    const servers = this.#session?.tools.servers().servers ?? [];
    const availableCommands = commandsWith(servers.flatMap(({ prompts }) => prompts));
    const told = JSON.stringify(availableCommands);
    if (told === this.#commands) return;
    this.#commands = told;
    await this.#options.client.update(this.id, { sessionUpdate: "available_commands_update", availableCommands });
  }

  get busy(): boolean {
    return this.#prompting !== undefined;
  }

  get settings(): Settings {
    return { ...this.#log.state, ...this.#chosen, ...(this.#options.cwd !== undefined && { cwd: this.#options.cwd }) };
  }

  get modes(): acp.SessionModeState {
    return modesOf(this.settings);
  }

  configOptions(): Promise<acp.SessionConfigOption[]> {
    return optionsOf(this.settings, this.#options.env);
  }

  async prompt(prompt: readonly acp.ContentBlock[], requested: AbortSignal): Promise<acp.PromptResponse> {
    const signal = AbortSignal.any([requested, this.#closing.signal]);
    signal.addEventListener("abort", () => this.#asking.dismiss(), { once: true });
    try {
      const said = answerTo(typedText(prompt), this.#log.state, this.settings);
      const answer = said === undefined ? this.#turn(prompt, signal) : this.#say(said);
      this.#prompting = answer.catch(() => undefined); // told to the client
      return await answer;
    } catch (error) {
      if (this.#closing.signal.aborted) return { stopReason: "cancelled" };
      throw error;
    } finally {
      this.#prompting = undefined;
    }
  }

  /** Also a turn that no prompt of the client began. */
  cancel(): void {
    this.#asking.dismiss();
    this.#session?.cancel().catch(this.#options.onFailure);
  }

  /**
   * A policy holds at once, also for the turn that runs, whoever drives it. Another agent or model is for the next turn:
   * where one runs, it waits for its end. Resolves when the client was told.
   */
  async choose(choice: Choice): Promise<void> {
    const { store } = this.#options.rookery;
    if (this.#session !== undefined) {
      await this.#session.change(choice);
      this.#watchTools(); // another agent has others
      await this.tellCommands();
      return this.#log.through(this.#session.state.head);
    }
    if (choice.permissions !== undefined) {
      await changePermissions(store, this.id, choice.permissions);
      return this.#log.through((await store.summary(this.id))?.head ?? 0);
    }
    this.#chosen = { ...this.#chosen, ...choice };
    await this.#tellSettings();
  }

  /** Cancels what runs and lets go of the session; its log stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#asking.close();
    this.#closing.abort(new Error("the session is being closed"));
    await this.#prompting;
    await this.#letGo();
    await this.#log.stop();
  }

  async #turn(prompt: readonly acp.ContentBlock[], signal: AbortSignal): Promise<acp.PromptResponse> {
    const { rookery } = this.#options;
    const session = this.#session ?? (await this.#hold());
    const typed = typedText(prompt);
    const expanded = typed.startsWith("/") ? await session.expand(typed, { signal }) : typed;
    const input =
      expanded === typed || typeof expanded === "string"
        ? await inputOf(prompt, rookery.store)
        : [...expanded, ...(await inputOf(prompt.slice(1), rookery.store))];
    await settled(session, signal); // last, so that what somebody says from elsewhere cannot come in between
    signal.throwIfAborted();
    const turn = session.prompt(input, { signal });
    this.#own.add(turn.id);
    try {
      const outcome = await turn.outcome.catch(async (error: unknown) => {
        await this.#letGo().catch(() => undefined); // such a session writes nothing any more
        throw error;
      });
      await this.#log.through(session.state.head);
      if (outcome.status === "failed" && LOST_AGENT.has(outcome.code)) await this.#letGo();
      return { stopReason: stopReasonOf(outcome), _meta: { rookery: { usage: session.state.usage } } };
    } finally {
      this.#own.delete(turn.id);
    }
  }

  async #say(text: string): Promise<acp.PromptResponse> {
    const content = { type: "text" as const, text };
    await this.#options.client.update(this.id, { sessionUpdate: "agent_message_chunk", content });
    return { stopReason: "end_turn" };
  }

  /** A turn that a killed process left goes on with it. */
  async #hold(): Promise<Session> {
    const { rookery, cwd } = this.#options;
    const session = await rookery.openSession({
      id: this.id,
      attended: true,
      mcpServers: this.#options.mcpServers,
      ...(cwd !== undefined && cwd !== this.#log.state.cwd && { cwd }),
      ...this.#chosen,
    });
    this.#session = session;
    this.#chosen = {};
    this.#watchTools();
    await this.tellCommands();
    if (session.resumed !== undefined) this.#askAll();
    return session;
  }

  /** Servers come and go, and their prompts with them. */
  #watchTools(): void {
    const tools = this.#session?.tools;
    if (tools === this.#watched?.tools) return;
    this.#watched?.stop();
    const stop = tools?.onChange(() => void this.tellCommands().catch(this.#options.onFailure));
    this.#watched = tools === undefined || stop === undefined ? undefined : { tools, stop };
  }

  async #letGo(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.[Symbol.asyncDispose]();
  }

  #askAll(): void {
    for (const asked of this.#log.asked) this.#asking.ask(asked);
  }

  async #happened(event: SessionEvent): Promise<void> {
    switch (event.type) {
      case "permission.requested":
      case "question.asked":
        this.#asking.ask(event);
        return;
      case "permission.resolved":
      case "question.answered":
        this.#asking.resolved(event.requestId);
        return;
      case "turn.ended":
        this.#asking.dismiss();
        return;
      case "session.opened": // which comes behind every change, that of the agent too
        await this.#tellSettings();
        return;
      default: // nothing else asks for anything
    }
  }

  async #tellSettings(): Promise<void> {
    const { client } = this.#options;
    const told = this.#told;
    const { permissions: currentModeId, model, agent } = (this.#told = this.settings);
    if (currentModeId !== told?.permissions) {
      await client.update(this.id, { sessionUpdate: "current_mode_update", currentModeId });
    } else if (model === told.model && agent === told.agent) return;
    const configOptions = await this.configOptions();
    await client.update(this.id, { sessionUpdate: "config_option_update", configOptions });
  }
}

/** What was left or waits goes before a prompt; cancelling the prompt cancels the turn that runs then. */
async function settled(session: Session, signal: AbortSignal): Promise<void> {
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
