/** Tracks what an agent's own session knows, and what the next prompt must include. */
import type { EventOf, TurnContext } from "../domain/index.ts";
import { formatHandover } from "./handover.ts";

type ConnectedHow = EventOf<"agent.connected">["how"];

export interface Recall {
  readonly how: ConnectedHow;
  /** Text to put before the input. Undefined if the agent knows everything, or there is no conversation. */
  readonly before: string | undefined;
  /** Whether its session is an earlier one, which has the instructions. */
  readonly knows: boolean;
}

export class ConversationMemory {
  readonly #agent: string;
  /** Whether the running process of the agent has received a prompt, with the instructions and the conversation. */
  #hasPrompt = false;
  /** The last turn that it received. `#hasMissed` is true if it does not know later ones. */
  #lastTurn: string | undefined;
  #hasMissed = false;

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** Whether the agent knows the whole conversation, so that the next prompt needs only the new input. */
  get isComplete(): boolean {
    return this.#hasPrompt && !this.#hasMissed;
  }

  /** Whether the running program has received a prompt. */
  get hasReceived(): boolean {
    return this.#hasPrompt;
  }

  /** Call when another process of the agent starts. */
  restart(): void {
    this.#hasPrompt = false;
  }

  /** Call when another agent drove the session in between. */
  markMissed(): void {
    this.#hasMissed = true;
  }

  /** Call when the agent receives this turn's prompt. */
  markDelivered({ turnId }: Pick<TurnContext, "turnId">): void {
    this.#hasPrompt = true;
    this.#hasMissed = false;
    this.#lastTurn = turnId;
  }

  /** Resets the state. Returns false if the agent had received nothing. */
  forget(): boolean {
    const hadSome = this.#lastTurn !== undefined;
    this.#hasPrompt = false;
    this.#hasMissed = false;
    this.#lastTurn = undefined;
    return hadSome;
  }

  /** `opened` is how the program obtained its session. */
  async recall(turn: TurnContext, opened: Exclude<ConnectedHow, "handed_over" | "adopted">): Promise<Recall> {
    const knows = this.#hasPrompt || opened !== "new";
    const before = await this.#before(turn, knows);
    if (knows) return { how: this.#hasPrompt ? "resumed" : opened, before, knows };
    return { how: before === undefined ? "new" : "handed_over", before, knows };
  }

  /** Returns the whole conversation, or what followed the agent's last turn. */
  async #before(turn: TurnContext, knows: boolean): Promise<string | undefined> {
    if (!knows) return formatHandover(turn);
    return this.#hasMissed ? formatHandover(turn, { turnId: this.#lastTurn, agent: this.#agent }) : undefined;
  }
}
