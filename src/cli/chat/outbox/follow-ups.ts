/** Prompts that wait for the end of the turn. They are not in the log yet, so that Esc can withdraw them. */
import type { QueuedInput } from "../../../domain/state.ts";
import type { ShellOutput } from "./kept-outputs.ts";

export interface FollowUp {
  readonly prompt: string;
  readonly outputs: readonly ShellOutput[];
}

const MAX_FOLLOW_UPS = 20;

export class FollowUps {
  #waiting: readonly FollowUp[] = [];

  /** Returns false if too many wait. */
  add(followUp: FollowUp): boolean {
    if (this.#waiting.length >= MAX_FOLLOW_UPS) return false;
    this.#waiting = [...this.#waiting, followUp];
    return true;
  }

  takeFirst(): FollowUp | undefined {
    const [first, ...rest] = this.#waiting;
    this.#waiting = rest;
    return first;
  }

  takeAll(): readonly FollowUp[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  /** The waiting prompts in the form of queued inputs, to be shown after the queue of the session. */
  get queued(): readonly QueuedInput[] {
    return this.#waiting.map(({ prompt }) => ({
      inputId: "",
      input: [{ type: "text", text: prompt }],
      deliver: "follow_up",
    }));
  }
}
