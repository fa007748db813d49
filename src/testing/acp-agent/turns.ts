/** Which turn of the script a prompt takes, and which prompts are under way. */

import type { Exchange } from "./exchange.ts";
import type { AgentRecord } from "./record.ts";
import { CODE, isObject, Refusal } from "./rpc.ts";
import type { JsonObject, Script, Turn, TurnScript } from "./script.ts";
import type { Session } from "./sessions.ts";

export class Turns {
  readonly #left: TurnScript[];
  readonly #otherwise: TurnScript | undefined;
  readonly #running = new Map<unknown, Exchange>();
  #prompts = 0;

  constructor({ prompts = [], otherwise }: Script) {
    this.#left = prompts.map(scriptOf);
    this.#otherwise = otherwise === undefined ? undefined : scriptOf(otherwise);
  }

  /** The first turn left whose condition the prompt meets. */
  next(params: JsonObject, record: AgentRecord): TurnScript {
    const { prompt } = params;
    if (!Array.isArray(prompt)) throw new Refusal(CODE.invalidParams, "prompt must be a list of content blocks");
    this.#prompts++;
    const text = prompt.map(textOf).join("");
    const index = this.#left.findIndex(({ when }) => when === undefined || text.includes(when));
    const [turn = this.#otherwise] = index === -1 ? [] : this.#left.splice(index, 1);
    if (turn !== undefined) return turn;
    const problem = `the script has nothing for prompt number ${this.#prompts}`;
    record.problem(problem);
    throw new Refusal(CODE.internal, problem);
  }

  /** What the user said belongs to the history, although nobody sends it back live. */
  remember(session: Session, { prompt }: JsonObject): void {
    for (const content of Array.isArray(prompt) ? prompt : []) {
      session.history.push({ sessionUpdate: "user_message_chunk", content });
    }
  }

  begin(sessionId: string, exchange: Exchange): void {
    this.#running.set(sessionId, exchange);
  }

  end(sessionId: string): void {
    this.#running.delete(sessionId);
  }

  of(sessionId: unknown): Exchange | undefined {
    return this.#running.get(sessionId);
  }
}

function scriptOf(turn: Turn): TurnScript {
  return isSteps(turn) ? { steps: turn } : turn;
}

function isSteps(turn: Turn): turn is Exclude<Turn, TurnScript> {
  return Array.isArray(turn);
}

function textOf(block: unknown): string {
  return isObject(block) && typeof block["text"] === "string" ? block["text"] : "";
}
