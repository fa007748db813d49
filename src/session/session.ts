/** A live session: takes one prompt at a time, and answers, cancellations and queued input at any time. */
import {
  OVERLAY_ARGUMENT,
  RookeryError,
  checkArgument,
  isRookeryError,
  newId,
  type OfferedCommand,
  type Capabilities,
  type ConversationMessage,
  type EventBody,
  type InputPart,
  type Overlay,
  type SessionState,
  type SessionTools,
} from "../domain/index.ts";
import type { DisposeStack } from "../stdx/index.ts";
import { answerRequest } from "./answer.ts";
import { listConversationBlobs, toReplacementEvent } from "./conversation.ts";
import { openBetweenTurns, type BetweenTurns } from "./between-turns.ts";
import { changeEvents, toNamedChanges, type Changes, type NamedChanges } from "./agent-settings.ts";
import { closingEvents } from "./end-turn.ts";
import { expandPrompt } from "./expand-prompt.ts";
import { toInputParts, requireAttachments } from "./input.ts";
import { inputNotQueued } from "./log-head.ts";
import type { Answer, CloseOptions, Deliver, RevokeOptions } from "./method-types.ts";
import {
  checkPromptOptions,
  checkSignalOption,
  checkText,
  checkToolChoice,
  parseChanges,
  parseCloseOptions,
  parseQueueOptions,
  parseRevokeOptions,
} from "./parameters.ts";
import { toRevocation } from "./revocation.ts";
import type { Turn } from "./turn-handle.ts";
import { Runner, type RunnerParts } from "./runner.ts";
import { SessionReleased } from "./turn.ts";
import { readWithdrawnInput } from "./withdraw-input.ts";

export interface SessionParts extends RunnerParts {
  /** Fires when another process has taken the session, or may take it soon. */
  readonly lost?: AbortSignal | undefined;
  /** Resources that the session owns and closes. */
  readonly owned: DisposeStack;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

/** The maximum number of queued inputs. */
export const MAX_QUEUED_INPUTS = 1_000;

export class Session implements AsyncDisposable {
  readonly id: string;
  /** The resumed turn, if a dead process left one. */
  readonly resumed: Turn | undefined;
  readonly #parts: SessionParts;
  readonly #lost: AbortSignal;
  readonly #betweenTurns: BetweenTurns;
  readonly #runner: Runner;
  #release: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  /** @internal `Rookery.openSession` creates sessions. */
  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.recorder.state.id;
    this.#runner = new Runner(parts);
    this.#betweenTurns = openBetweenTurns(parts);
    parts.sessionAgent.attach((agent) => this.#betweenTurns.forAgent(agent));
    const { turn } = this.state;
    this.resumed = turn === undefined ? undefined : this.#runner.resume(turn);
    this.#runner.startQueued();
    this.#lost = parts.lost ?? new AbortController().signal;
    if (this.#lost.aborted) this.#stopAtOnce();
    else this.#lost.addEventListener("abort", () => this.#stopAtOnce(), { once: true });
  }

  /** The fold of the log, as far as this process has read it. */
  get state(): SessionState {
    return this.#parts.recorder.state;
  }

  /** True if the session has lost its lease or its log. Open it again to continue. */
  get isBroken(): boolean {
    return this.#parts.recorder.isBroken;
  }

  /** Fires when this process stops driving the session, because it could not renew the lease in time or lost it. */
  get lost(): AbortSignal {
    return this.#lost;
  }

  /** The capabilities of the current agent. Throws `agent_unavailable` if it is lost. */
  get capabilities(): Capabilities {
    return this.#parts.sessionAgent.connection.capabilities;
  }

  /**
   * The agent's tools and MCP servers. Throws `agent_unavailable` if the agent is lost or takes no tools from
   * Rookery.
   */
  get tools(): SessionTools {
    const { tools } = this.#parts.sessionAgent.connection;
    if (tools !== undefined) return tools;
    throw new RookeryError("agent_unavailable", `the agent ${this.state.agent} uses only its own tools`);
  }

  /**
   * The commands of the agent's program, as it last reported them: a prompt of `/name` runs one. They are not in the
   * log. Throws `agent_unavailable` if the agent is lost.
   */
  get commands(): readonly OfferedCommand[] {
    return this.#parts.sessionAgent.connection.commands ?? [];
  }

  /** The models that the agent's program offers. Empty if it lists none. Throws `agent_unavailable` like `commands`. */
  get models(): readonly string[] {
    return this.#parts.sessionAgent.connection.models ?? [];
  }

  /**
   * Adds tools and instructions to this session, from its next turn on. The overlay is not in the log: set it again
   * after opening the session again. Throws `tool_conflict` and changes nothing.
   */
  setOverlay(overlay: Overlay): void {
    checkArgument(overlay, OVERLAY_ARGUMENT, "the overlay");
    this.#refuseIfClosed();
    this.#parts.sessionAgent.setOverlay(overlay);
  }

  /** Enables or disables a tool permanently in this session. The tool does not have to exist yet. */
  async chooseTool(tool: string, enabled: boolean): Promise<void> {
    checkToolChoice({ tool, enabled });
    this.#refuseIfClosed();
    this.tools.choose(tool, enabled);
    await this.#record([{ type: "tool.chosen", tool, enabled }]);
  }

  /**
   * Expands an input such as `/server:prompt words` to the MCP server's prompt. Returns any other input unchanged.
   * Waits for that server. Rejects with `input_invalid` if an argument is missing, or with `mcp_*`.
   */
  async expand(input: string, options: { signal?: AbortSignal } = {}): Promise<string | readonly InputPart[]> {
    checkText(input, "the prompt");
    checkSignalOption(options);
    const { tools } = this.#parts.sessionAgent.connection;
    const signal = options.signal ?? new AbortController().signal;
    return tools === undefined ? input : expandPrompt(input, { tools, store: this.#parts.store, signal });
  }

  /**
   * Starts a turn. `turnId` sets its ID. Default: a new ID.
   * Throws `turn_in_progress`, `session_closed`, `agent_unavailable`, `input_invalid` or `input_too_large`. If the
   * store lacks an attachment, no turn starts and the outcome rejects with `attachment_missing`.
   */
  prompt(input: string | readonly InputPart[], options: { signal?: AbortSignal; turnId?: string } = {}): Turn {
    checkPromptOptions(options);
    const parts = toInputParts(input);
    this.#refuseIfClosed();
    this.#refuseIfBusy();
    const beforeStart = parts.some(({ type }) => type === "blob")
      ? () => requireAttachments(this.#parts.store, parts)
      : undefined;
    return this.#runner.start(parts, { ...options, beforeStart });
  }

  /**
   * Continues the last turn without a prompt, in the program's own session, if the turn failed, stalled or was
   * cancelled. The log gets a new turn with an empty input. Throws `backend_unsupported` if the agent cannot do that
   * (`capabilities.resumeTurn`), `input_invalid` if the last turn is done, or like `prompt`. If the program has nothing
   * to continue, the turn fails with `backend_unsupported`.
   */
  resume(options: { signal?: AbortSignal; turnId?: string } = {}): Turn {
    checkPromptOptions(options);
    this.#refuseIfClosed();
    this.#refuseIfBusy();
    const { lastOutcome, agent, nativeId } = this.state;
    if (lastOutcome === undefined || lastOutcome.status === "done") {
      throw new RookeryError("input_invalid", `session ${this.id} has no unfinished turn to continue: send a prompt`);
    }
    if (this.capabilities.resumeTurn !== true || nativeId === undefined) {
      throw new RookeryError(
        "backend_unsupported",
        `the agent ${agent} cannot continue a turn without a prompt: send one`,
      );
    }
    return this.#runner.start([], options);
  }

  /**
   * Queues an input. It starts a turn at once if the session is idle, and otherwise after the running turn. With
   * `steer`, the running turn gets it at its next step if the agent supports that. Resolves with the input's ID.
   * Rejects with `turn_in_progress` if the queue is full, or with `attachment_missing`.
   */
  async queue(input: string | readonly InputPart[], options: { deliver?: Deliver } = {}): Promise<string> {
    const { deliver } = parseQueueOptions(options);
    const parts = toInputParts(input);
    this.#refuseIfClosed();
    await requireAttachments(this.#parts.store, parts);
    await this.#runner.deferredWork.settled("conversation"); // input that is queued after a replacement belongs to the new conversation
    this.#refuseIfClosed();
    this.#refuseIfFull();
    const inputId = newId("inp", this.#parts.clock.now());
    await this.#record([{ type: "input.queued", inputId, input: parts, ...(deliver === "steer" && { deliver }) }]);
    this.#runner.startQueued();
    return inputId;
  }

  /**
   * Withdraws an input that waits in the queue, so that no agent gets it. Resolves with the input when that is
   * durable, even if it was withdrawn before. Rejects with `input_not_queued` if the agent already has it.
   */
  async withdraw(inputId: string): Promise<readonly InputPart[]> {
    checkText(inputId, "the input id");
    const queued = this.state.queue.find((input) => input.inputId === inputId);
    try {
      if (queued === undefined) throw inputNotQueued(this.id, inputId);
      await this.#record([{ type: "input.withdrawn", inputId }]);
      return queued.input;
    } catch (error) {
      if (!isRookeryError(error, "input_not_queued")) throw error;
      return readWithdrawnInput(this.#parts.store, this.id, inputId); // a failed append may have been durable
    }
  }

  /** Cancels the running turn, and resolves when that is recorded. Queued inputs start the next turns. */
  async cancel(): Promise<void> {
    await this.#stopTurn(new RookeryError("interrupted", "the turn was cancelled"));
  }

  /**
   * Changes the agent, model or working directory, and records it. During a turn, the change happens at its end,
   * before queued input. A change of the permission policy alone takes effect at once. Rejects with `session_closed`,
   * with `interrupted` if a later change replaces this one, or with the error of the new agent; the session then
   * stays unchanged.
   */
  async change(settings: Changes): Promise<void> {
    const changes = toNamedChanges(parseChanges(settings));
    this.#refuseIfClosed();
    const { state } = this;
    const { agent = state.agent, model = state.model, cwd = state.cwd, permissions = state.permissions } = changes;
    const isDefined = changes.definition !== undefined;
    if (!isDefined && agent === state.agent && model === state.model && cwd === state.cwd) {
      if (changes.agent ?? changes.model ?? changes.cwd) this.#runner.deferredWork.withdraw("settings");
      return this.#record(changeEvents(state, { ...state, permissions }));
    }
    return this.#runner.deferredWork.schedule("settings", () => this.#change(changes));
  }

  /**
   * Cancels the running turn, and continues from these messages. The agent does not see the earlier conversation and
   * queued inputs anymore; the log keeps them. Input that is queued after this call waits for it. Resolves when it is
   * recorded. Rejects with `input_invalid`, `input_too_large`, `attachment_missing`, `session_closed`, or like `change`,
   * and then changes nothing.
   */
  async replaceConversation(messages: readonly ConversationMessage[]): Promise<void> {
    this.#refuseIfClosed();
    const replaced = toReplacementEvent(messages);
    const blobs = listConversationBlobs(replaced);
    if (blobs.length > 0) {
      await requireAttachments(this.#parts.store, blobs);
      this.#refuseIfClosed();
    }
    this.#runner.abort(new RookeryError("interrupted", "the conversation was replaced"));
    return this.#runner.deferredWork.schedule("conversation", async () => {
      await this.#record([replaced]);
      await this.#parts.sessionAgent.forget();
    });
  }

  /** Resolves when no turn runs and no input waits. */
  idle(): Promise<void> {
    return this.#runner.idle();
  }

  async answer(requestId: string, answer: Answer): Promise<void> {
    await answerRequest(this.#parts.store, { sessionId: this.id, requestId, answer, clock: this.#parts.clock });
  }

  /**
   * Revokes a permission that a person gave for the rest of the session (`state.grants`, `state.commandGrants`): the
   * agent asks again before this tool runs, or with `prefix` before commands run that start with these words. Changes
   * nothing if there is none. Does not affect permissions that the agent's program stores itself.
   */
  async revoke(tool: string, options: RevokeOptions = {}): Promise<void> {
    checkText(tool, "the tool");
    const { prefix } = parseRevokeOptions(options);
    this.#refuseIfClosed();
    const revocation = toRevocation(this.state, tool, prefix);
    if (revocation !== undefined) await this.#record([revocation]);
  }

  /** Ends the conversation for good: records `session.closed` and releases the session. It cannot be opened again. */
  async end(reason?: string): Promise<void> {
    if (reason !== undefined) checkText(reason, "the reason");
    this.#runner.end();
    this.#parts.recorder.stopRetrying();
    try {
      await this.cancel();
      if (this.state.closed) return;
      await this.#record([
        ...closingEvents(this.state, undefined, true),
        { type: "session.closed", ...(reason !== undefined && { reason }) },
      ]);
    } finally {
      await this.close();
    }
  }

  /**
   * Releases the session, so that any process can open it again and continue. Cancels the running turn, but a parked
   * one stays parked and continues then. Closing twice is safe.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    const { cancelParked } = parseCloseOptions(options);
    return (this.#release ??= this.#releaseResources(cancelParked)); // later calls wait for the same release
  }

  /** Is `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stopTurn(reason: RookeryError): Promise<void> {
    const { turn } = this.#runner;
    this.#runner.abort(reason);
    await turn?.outcome;
    await this.#runner.settle();
  }

  /** Stops the agent at once, without a grace period, because another process may already drive the session. */
  #stopAtOnce(): void {
    this.#stopping = this.#parts.sessionAgent[Symbol.asyncDispose]().catch(() => undefined); // a process that survives is found by its marker
    void this.close().catch(() => undefined);
  }

  async #releaseResources(cancelParked = false): Promise<void> {
    this.#runner.end();
    this.#parts.recorder.stopRetrying();
    const stopped = cancelParked ? this.cancel() : this.#stopTurn(new SessionReleased());
    await stopped.catch(() => undefined); // callers that wait for the turn get the error
    await this.#runner.deferredWork.finished();
    this.#runner[Symbol.dispose]();
    const { owned, sessionAgent, onReleased } = this.#parts;
    onReleased?.(this);
    await this.#stopping;
    owned.use(this.#betweenTurns);
    owned.use(sessionAgent); // before the lease: nobody else may drive the session until its agent has exited
    await owned[Symbol.asyncDispose]();
  }

  async #change(changes: NamedChanges): Promise<void> {
    const { sessionAgent, recorder } = this.#parts;
    const before = this.state;
    const after = await sessionAgent.change(before, changes);
    try {
      await this.#record(changeEvents(before, after));
    } catch (error) {
      if (recorder.isBroken || this.#runner.isEnded) throw error; // the agent is being closed anyway
      await recorder.catchUp().catch(() => undefined); // a failed append may be durable
      if (changeEvents(this.state, after).length === 0) return;
      await sessionAgent.revert(this.state);
      throw error;
    }
  }

  async #record(events: readonly EventBody[]): Promise<void> {
    const { recorder } = this.#parts;
    await recorder.write(events);
  }

  #refuseIfBusy(): void {
    const { turn, deferredWork } = this.#runner;
    if (turn === undefined && !deferredWork.isRunning) return;
    const reason = turn === undefined ? "its settings are being changed" : `turn ${turn.id} is running`;
    const fix = "wait until it ends, cancel it, or queue the input";
    throw new RookeryError("turn_in_progress", `session ${this.id} is busy because ${reason}: ${fix}`);
  }

  #refuseIfFull(): void {
    const { length } = this.state.queue;
    if (length < MAX_QUEUED_INPUTS) return;
    const fix = "wait until the agent has read some of them";
    throw new RookeryError(
      "turn_in_progress",
      `session ${this.id} already has ${length} queued inputs, which is the limit: ${fix}`,
    );
  }

  #refuseIfClosed(): void {
    if (this.state.closed || this.#runner.isEnded)
      throw new RookeryError("session_closed", `session ${this.id} is closed`);
  }
}
