/** What an agent's own session knows of the conversation, and what it must be told of the rest. */
import type { EventOf, TurnContext } from "../domain/index.ts";
import { handoverText } from "./handover.ts";

type How = EventOf<"agent.connected">["how"];

export interface Recalled {
  readonly how: How;
  /** To be told before the input; undefined where it knows everything, or nothing was said. */
  readonly before: string | undefined;
  /** Its session is not a new one: it has its instructions. */
  readonly knows: boolean;
}

export class Memory {
  readonly #agent: string;
  /** The agent that runs was given what it is to know before anything else. */
  #isTold = false;
  /** The last turn that it was given, and whether others came after it that it does not know. */
  #lastTurn: string | undefined;
  #hasMissed = false;

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** Nothing has to be told beside the input. */
  get isWhole(): boolean {
    return this.#isTold && !this.#hasMissed;
  }

  /** Its program runs and was told something, in this process. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Another process of it runs. */
  startOver(): void {
    this.#isTold = false;
  }

  /** Another agent drove the session meanwhile. */
  miss(): void {
    this.#hasMissed = true;
  }

  /** It is given this turn, and with it all that it has to be told. */
  give({ turnId }: Pick<TurnContext, "turnId">): void {
    this.#isTold = true;
    this.#hasMissed = false;
    this.#lastTurn = turnId;
  }

  /** What it was told counts no more. False where that was nothing. */
  forget(): boolean {
    const hadSome = this.#lastTurn !== undefined;
    this.#isTold = false;
    this.#hasMissed = false;
    this.#lastTurn = undefined;
    return hadSome;
  }

  /** `opened`: how its program came to the session that it has. */
  async recall(turn: TurnContext, opened: Exclude<How, "handed_over">): Promise<Recalled> {
    const knows = this.#isTold || opened !== "new";
    const before = await this.#before(turn, knows);
    if (knows) return { how: this.#isTold ? "resumed" : opened, before, knows };
    return { how: before === undefined ? "new" : "handed_over", before, knows };
  }

  /** All of it, or what came after its own last turn. */
  async #before(turn: TurnContext, knows: boolean): Promise<string | undefined> {
    if (!knows) return handoverText(turn);
    return this.#hasMissed ? handoverText(turn, { turnId: this.#lastTurn, agent: this.#agent }) : undefined;
  }
}
