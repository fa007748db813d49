/** Assigns the turns of the script to prompts, and tracks which prompts are running. */

import type { RequestRun } from "./request-run.ts";
import type { AgentRecord } from "./record.ts";
import { RPC_ERROR, isObject, RpcFailure, type JsonObject } from "./rpc.ts";
import type { AcpScript, AcpTurn, AcpTurnScript } from "./script.ts";
import type { ScriptedSession } from "./sessions.ts";

export class ScriptedTurns {
  readonly #left: AcpTurnScript[];
  readonly #otherwise: AcpTurnScript | undefined;
  readonly #running = new Map<unknown, RequestRun>();
  #prompts = 0;

  constructor({ prompts = [], otherwise }: AcpScript) {
    this.#left = prompts.map(toTurnScript);
    this.#otherwise = otherwise === undefined ? undefined : toTurnScript(otherwise);
  }

  /** Takes the first unused turn whose condition the prompt meets. Throws an internal error if there is none. */
  next(params: JsonObject, record: AgentRecord): AcpTurnScript {
    const { prompt } = params;
    if (!Array.isArray(prompt))
      throw new RpcFailure(RPC_ERROR.invalidParams, "prompt must be a list of content blocks");
    this.#prompts++;
    const text = prompt.map(blockText).join("");
    const index = this.#left.findIndex(({ when }) => when === undefined || text.includes(when));
    const [turn = this.#otherwise] = index === -1 ? [] : this.#left.splice(index, 1);
    if (turn !== undefined) return turn;
    const problem = `the script has no turn for prompt number ${this.#prompts}`;
    record.problem(problem);
    throw new RpcFailure(RPC_ERROR.internal, problem);
  }

  /** Adds the prompt to the history. A live agent does not send it back. */
  remember(session: ScriptedSession, { prompt }: JsonObject): void {
    for (const content of Array.isArray(prompt) ? prompt : []) {
      session.history.push({ sessionUpdate: "user_message_chunk", content });
    }
  }

  start(sessionId: string, request: RequestRun): void {
    this.#running.set(sessionId, request);
  }

  end(sessionId: string): void {
    this.#running.delete(sessionId);
  }

  findRunning(sessionId: unknown): RequestRun | undefined {
    return this.#running.get(sessionId);
  }
}

function toTurnScript(turn: AcpTurn): AcpTurnScript {
  return isSteps(turn) ? { steps: turn } : turn;
}

function isSteps(turn: AcpTurn): turn is Exclude<AcpTurn, AcpTurnScript> {
  return Array.isArray(turn);
}

function blockText(block: unknown): string {
  return isObject(block) && typeof block["text"] === "string" ? block["text"] : "";
}
