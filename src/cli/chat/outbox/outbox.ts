/** Inputs that no agent has received yet: they are sent in order, wait for a turn, or go back into the editor. */
import type { QueuedInput } from "../../../domain/state.ts";
import type { Deliver } from "../../../session/method-types.ts";
import { type FollowUp, FollowUps } from "./follow-ups.ts";
import { formatShellOutput, KeptOutputs, type ShellOutput } from "./kept-outputs.ts";
import { SentInputs } from "./sent-inputs.ts";

export interface OutboxActions {
  /** Resolves with false if the text is a prompt for the agent. */
  runCommand(text: string): Promise<boolean>;
  /** Sends a prompt. `context`: texts that follow it. Resolves with the ID of a queued input. */
  send(prompt: string, deliver: Deliver, context: readonly string[]): Promise<string | undefined>;
  /** Withdraws these inputs. Resolves with those that no agent had yet. */
  withdraw(queue: readonly QueuedInput[]): Promise<readonly QueuedInput[]>;
  /** Whether a follow-up can wait in this process for the end of the turn. */
  canHoldFollowUp(): boolean;
  /** Whether the session starts another turn by itself. */
  hasQueue(): boolean;
  /** Puts text into the input, unless the person has typed something else. */
  returnText(text: string): void;
  /** Puts text before what the person is typing. */
  prependText(text: string): void;
  fail(error: unknown): void;
  refresh(): void;
}

export class ChatOutbox {
  readonly #actions: OutboxActions;
  /** Inputs are sent in the order in which they were typed. */
  #sending: Promise<void> = Promise.resolve();
  #unsent: readonly string[] = [];
  #isClosed = false;
  readonly #followUps = new FollowUps();
  readonly #sent = new SentInputs();
  /** Inputs that this chat withdraws. */
  readonly #withdrawing = new Set<string>();
  /** Outputs that go with the next prompt. */
  readonly outputs = new KeptOutputs();

  constructor(actions: OutboxActions) {
    this.#actions = actions;
  }

  /** What was typed and is not in the log yet. */
  get unsent(): readonly string[] {
    return this.#unsent;
  }

  /** The follow-ups, as if they were in the queue of the session. */
  get queued(): readonly QueuedInput[] {
    return this.#followUps.queued;
  }

  /** Runs a command of the chat, or sends a prompt, after everything that was submitted before. */
  submit(text: string, deliver: Deliver): void {
    this.#unsent = [...this.#unsent, text];
    this.#sending = this.#sending.then(async () => {
      if (this.#isClosed) return;
      try {
        if (!(await this.#actions.runCommand(text))) await this.#sendOrHold(text, deliver);
      } catch (error) {
        this.#actions.fail(error);
      } finally {
        this.#unsent = this.#unsent.slice(1);
        this.#actions.refresh();
      }
    });
  }

  /** Sends a prompt now. It starts a turn, or is queued if one runs. */
  async send(prompt: string, deliver: Deliver, outputs: readonly ShellOutput[] = []): Promise<void> {
    const context = outputs.map((output) => formatShellOutput(output));
    const inputId = await this.#actions.send(prompt, deliver, context);
    if (inputId !== undefined) this.#sent.add(inputId, { prompt, outputs });
  }

  /** Call it when a turn has ended. */
  sendFollowUp(): void {
    if (this.#actions.hasQueue()) return; // the session starts another turn, whose end leads here again
    const next = this.#followUps.takeFirst();
    if (next === undefined) return;
    this.#sending = this.#sending
      .then(() => this.#sendOrReturn(next.prompt, "follow_up", next.outputs))
      .catch((error: unknown) => {
        this.returnFollowUps(); // no turn ends that would send them
        this.#actions.fail(error);
      });
  }

  /** Puts the follow-ups back into the input. */
  returnFollowUps(): void {
    this.#returnToInput(this.#followUps.takeAll());
  }

  /**
   * Returns what is not sent because the chat ends, in the order in which it was typed, and sends nothing more. The input
   * that is being sent, or the command that runs, is not included.
   */
  close(): readonly string[] {
    this.#isClosed = true;
    const followUps = this.#followUps.takeAll().map(({ prompt }) => prompt);
    return [...followUps, ...this.#unsent.slice(1)];
  }

  /** Puts what is queued and what waits here back into the input, so that it does not start a turn of its own. */
  async withdraw(queue: readonly QueuedInput[]): Promise<void> {
    for (const { inputId } of queue) this.#withdrawing.add(inputId);
    const withdrawn = await this.#actions.withdraw(queue);
    this.#returnToInput([...withdrawn.map((input) => this.#sent.take(input)), ...this.#followUps.takeAll()]);
  }

  /** Whether this chat withdrew the input. Call it once for each withdrawn input in the log. */
  forgetWithdrawn(inputId: string): boolean {
    return this.#withdrawing.delete(inputId);
  }

  async #sendOrHold(prompt: string, deliver: Deliver): Promise<void> {
    const canHold = deliver === "follow_up" && this.#actions.canHoldFollowUp();
    const outputs = this.outputs.take();
    if (canHold && this.#followUps.add({ prompt, outputs })) return;
    await this.#sendOrReturn(prompt, deliver, outputs);
  }

  /** Puts the prompt back into the input if it cannot be sent. */
  async #sendOrReturn(prompt: string, deliver: Deliver, outputs: readonly ShellOutput[]): Promise<void> {
    try {
      await this.send(prompt, deliver, outputs);
    } catch (error) {
      this.outputs.add(...outputs);
      this.#actions.returnText(prompt);
      throw error;
    }
  }

  #returnToInput(inputs: readonly FollowUp[]): void {
    if (inputs.length === 0) return;
    this.outputs.add(...inputs.flatMap(({ outputs }) => outputs));
    this.#actions.prependText(inputs.map(({ prompt }) => prompt).join("\n\n"));
  }
}
