/** The session of a chat: this process drives it, or sends messages to the process that does. */
import { listGrants, type SessionGrant } from "../../domain/command-prefix.ts";
import type { BlobPart, InputPart, PermissionPolicy } from "../../domain/events.ts";
import { isRookeryError, RookeryError } from "../../domain/errors.ts";
import type { QueuedInput } from "../../domain/state.ts";
import type { Rookery } from "../../rookery.ts";
import { describeHolder } from "../../session/lease-holder.ts";
import type { Answer } from "../../session/method-types.ts";
import { loadState } from "../../session/open.ts";
import type { Deliver } from "../../session/method-types.ts";
import type { Session } from "../../session/session.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { withAgentSuggestions } from "../run/agent-suggestions.ts";
import { type FileSnapshot, takeSnapshot } from "./snapshots.ts";

/** What the session is opened with. Undefined: as configured, or as in the log. */
export interface ChatSettings {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
}

export interface ChatConnectionOptions {
  readonly rookery: Rookery;
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly settings: ChatSettings;
  /** The session to continue. Default: a new one. */
  readonly sessionId: string | undefined;
}

export class ChatConnection implements AsyncDisposable {
  readonly #options: ChatConnectionOptions;
  #settings: ChatSettings;
  #sessionId: string | undefined;
  #session: Session | undefined;
  #opening: Promise<void> | undefined;
  #attachments: readonly BlobPart[] = [];
  #snapshot: FileSnapshot | undefined;

  constructor(options: ChatConnectionOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#sessionId = options.sessionId;
  }

  /** Undefined until the first prompt of a new conversation. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The session, if this process drives it. */
  get session(): Session | undefined {
    return this.#session?.isBroken === true ? undefined : this.#session;
  }

  get rookery(): Rookery {
    return this.#options.rookery;
  }

  /**
   * Opens the session, so that an interrupted turn continues. If another process drives it, this process only follows
   * it. Rejects like `Rookery.openSession`.
   */
  async open(): Promise<void> {
    if (this.session !== undefined) return;
    await (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)));
  }

  /** The files before the last turn that this chat started. */
  get snapshot(): FileSnapshot | undefined {
    return this.#snapshot;
  }

  get hasAttachments(): boolean {
    return this.#attachments.length > 0;
  }

  /** Adds a file to the next input. */
  attach(part: BlobPart): void {
    this.#attachments = [...this.#attachments, part];
  }

  /**
   * Sends an input: starts a turn, or queues it if a turn runs. `context`: texts that follow it. Resolves with the ID
   * of a queued input.
   */
  async send(
    input: string,
    { deliver, context, signal }: { deliver: Deliver; context: readonly string[]; signal: AbortSignal },
  ): Promise<string | undefined> {
    await this.open();
    const { session } = this;
    if (session === undefined) return this.rookery.tell(this.#requireId(), withTexts(input, context), { deliver });
    const expanded = this.#withAttachments(withTexts(await session.expand(input, { signal }), context));
    if (session.state.turn === undefined && session.state.queue.length === 0) {
      this.#snapshot = await takeSnapshot(this.#options.cwd, this.#options.env);
      if (this.#start(session, expanded)) return undefined;
    }
    return session.queue(expanded, { deliver });
  }

  /** Withdraws these inputs. Resolves with those that no agent had yet; the next input includes their files. */
  async withdraw(inputs: readonly QueuedInput[]): Promise<readonly QueuedInput[]> {
    const { session } = this;
    const sessionId = this.#requireId();
    const withdrawn: QueuedInput[] = [];
    for (const input of inputs) {
      try {
        await (session === undefined
          ? this.rookery.withdraw(sessionId, input.inputId)
          : session.withdraw(input.inputId));
        withdrawn.push(input);
      } catch (error) {
        if (!isRookeryError(error, "input_not_queued")) throw error;
      }
    }
    const files = withdrawn.flatMap(({ input }) => input.flatMap((part) => (part.type === "blob" ? [part] : [])));
    for (const file of files) this.attach(file);
    return withdrawn;
  }

  /** Cancels the running turn, even if another process runs it. Rejects with `session_in_use` if a task does. */
  async cancel(): Promise<void> {
    if (this.#sessionId === undefined) return;
    await this.open(); // the person may be faster than the start of the agent
    const { session } = this;
    if (session !== undefined) return session.cancel();
    await this.rookery.cancelTurn(this.#requireId());
  }

  /** Names the process that drives the session. */
  async describeDriver(): Promise<string> {
    const lease = await this.rookery.store.currentLease(this.#requireId());
    return lease === undefined ? "another process" : describeHolder(lease);
  }

  async answer(requestId: string, answer: Answer): Promise<void> {
    await this.rookery.answer(this.#requireId(), requestId, answer);
  }

  /** What the session runs with, to open another one like it. */
  async currentSettings(): Promise<ChatSettings> {
    if (this.#sessionId === undefined) return this.#settings;
    const { agent, agents, model, permissions } =
      this.session?.state ?? (await loadState(this.rookery.store, this.#sessionId));
    return { agent, permissions, ...(agents[agent]?.modelChosen === true && { model }) };
  }

  /** The tools and commands that a person allowed for the rest of the session. */
  async grants(): Promise<readonly SessionGrant[]> {
    if (this.#sessionId === undefined) return [];
    return listGrants(this.session?.state ?? (await loadState(this.rookery.store, this.#sessionId)));
  }

  /** Asks again before this tool or command runs. */
  async revoke({ tool, prefix }: SessionGrant): Promise<void> {
    const { session } = this;
    const options = prefix === undefined ? {} : { prefix };
    if (session !== undefined) await session.revoke(tool, options);
    else await this.rookery.revoke(this.#requireId(), tool, options);
  }

  /** Changes the settings now, or those of the session that the first prompt opens. */
  async change(settings: ChatSettings): Promise<void> {
    this.#settings = { ...this.#settings, ...settings };
    if (this.#sessionId === undefined) return;
    await this.open();
    const { session } = this;
    if (session === undefined) {
      throw new RookeryError("session_in_use", `${await this.describeDriver()} drives this session; change it there`);
    }
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    await session.change(Object.fromEntries(given));
  }

  /** Releases the session. A running turn is cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#session?.close({ cancelParked: true });
    this.#session = undefined;
  }

  async #open(): Promise<void> {
    const { rookery, env, cwd } = this.#options;
    const { agent, model, permissions } = this.#settings;
    const settings = {
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(permissions !== undefined && { permissions }),
    };
    const target = this.#sessionId === undefined ? { cwd } : { id: this.#sessionId };
    try {
      this.#session = await withAgentSuggestions({ env, cwd }, () =>
        rookery.openSession({ ...target, ...settings, attended: true }),
      );
      this.#sessionId = this.#session.id;
      this.#settings = {};
    } catch (error) {
      if (this.#sessionId === undefined || !isRookeryError(error, "session_in_use")) throw error;
    }
  }

  #withAttachments(input: Input): Input {
    if (this.#attachments.length === 0) return input;
    const all = [...toParts(input), ...this.#attachments];
    this.#attachments = [];
    return all;
  }

  /** Returns false if a turn has started meanwhile. */
  #start(session: Session, input: Input): boolean {
    try {
      const turn = session.prompt(input);
      turn.outcome.catch(() => undefined); // the log shows the outcome
      return true;
    } catch (error) {
      if (isRookeryError(error, "turn_in_progress")) return false;
      throw error;
    }
  }

  #requireId(): string {
    if (this.#sessionId === undefined) throw new RookeryError("session_not_found", "the conversation has not started");
    return this.#sessionId;
  }
}

type Input = string | readonly InputPart[];

function withTexts(input: Input, texts: readonly string[]): Input {
  return texts.length === 0 ? input : [...toParts(input), ...texts.map((text) => ({ type: "text" as const, text }))];
}

function toParts(input: Input): readonly InputPart[] {
  return typeof input === "string" ? [{ type: "text", text: input }] : input;
}
