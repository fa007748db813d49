/** Where requests are answered: the usual answer of each method, or what the script has for it. */

import { Exchange, type Outcome, type Plan } from "./exchange.ts";
import { admit, METHODS, offers, type Office, type Usual } from "./methods/index.ts";
import { CODE, Refusal } from "./rpc.ts";
import type { CancelledBy, Stage } from "./scene.ts";
import type { Handling, JsonObject, Script } from "./script.ts";
import { Turns } from "./turns.ts";

const CANCELLED: Outcome = { error: { code: CODE.cancelled, message: "the request was cancelled" } };

export class Desk {
  readonly #script: Script;
  readonly #stage: Stage;
  readonly #office: Office;
  readonly #turns: Turns;
  /** Those that are not answered yet, by id. */
  readonly #open = new Map<unknown, Exchange>();
  /** Those whose aftermath is not over yet either. */
  readonly #unfinished = new Set<Promise<void>>();
  readonly #calls = new Map<string, number>();

  constructor(script: Script, stage: Stage) {
    this.#script = script;
    this.#stage = stage;
    this.#turns = new Turns(script);
    const { sessions, client } = stage;
    this.#office = { script, sessions, client, authenticated: false, endTurn: (sessionId) => this.#endTurn(sessionId) };
  }

  answer(id: unknown, method: string, params: JsonObject): void {
    if (this.#open.has(id)) this.#stage.record.problem(`id ${JSON.stringify(id)} is used twice at once`);
    try {
      if (method === "session/prompt") this.#prompt(id, params);
      else this.#serve(id, method, params);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      void this.#stage.output.send({ jsonrpc: "2.0", id, error: error.error });
    }
  }

  cancelTurn(sessionId: unknown, by: CancelledBy): void {
    this.#turns.of(sessionId)?.cancel(by);
  }

  cancelRequest(id: unknown): void {
    this.#open.get(id)?.cancel("$/cancel_request");
  }

  /** What the script has for this call of the method. */
  handling(method: string): Handling | undefined {
    const scripted = this.#script.on?.[method];
    const call = this.#calls.get(method) ?? 0;
    this.#calls.set(method, call + 1);
    return isList(scripted) ? scripted[call] : scripted;
  }

  /** Resolves when everything that was asked up to now is answered, with its aftermath. */
  async settled(): Promise<void> {
    await Promise.all(this.#unfinished);
  }

  #prompt(id: unknown, params: JsonObject): void {
    admit(this.#office);
    const session = this.#office.sessions.active(params["sessionId"]);
    if (this.#turns.of(session.sessionId) !== undefined) {
      throw new Refusal(CODE.invalidRequest, `session ${session.sessionId} already has a prompt`);
    }
    const { onCancel = {}, ...handling } = this.#turns.next(params, this.#stage.record);
    this.#turns.remember(session, params);
    this.#begin(
      {
        id,
        usual: { stopReason: "end_turn" },
        handling,
        onCancel,
        cancelled: { result: { stopReason: "cancelled" } },
        session,
        over: () => {
          this.#turns.end(session.sessionId);
          this.#office.sessions.keep();
        },
      },
      session.sessionId,
    );
  }

  #begin(plan: Plan, turnOf?: string): void {
    const { id } = plan;
    const over = (): void => {
      if (this.#open.get(id) === exchange) this.#open.delete(id);
      plan.over?.();
    };
    const exchange = new Exchange(this.#stage, { ...plan, over });
    this.#open.set(id, exchange);
    if (turnOf !== undefined) this.#turns.begin(turnOf, exchange);
    const done = exchange.conduct().finally(() => this.#unfinished.delete(done));
    this.#unfinished.add(done);
  }

  #serve(id: unknown, method: string, params: JsonObject): void {
    const handling = this.handling(method);
    const { result, session, first, replays = false } = this.#usual(method, params, handling);
    const { replay = "before" } = this.#script;
    this.#begin({
      id,
      usual: result,
      handling: handling ?? {},
      onCancel: {},
      cancelled: CANCELLED,
      session,
      first,
      replay: replays ? { when: replay, updates: [...(session?.history ?? [])] } : undefined,
    });
  }

  /** A script that says what is answered is obeyed also where a well-behaved agent would refuse; an error has no effect. */
  #usual(method: string, params: JsonObject, handling: Handling | undefined): Usual {
    const session = this.#office.sessions.find(params["sessionId"]);
    const nothing: Usual = { result: {}, ...(session !== undefined && { session }) };
    const { answer = {} } = handling ?? {};
    if (answer.error !== undefined) return nothing;
    try {
      const known = METHODS[method];
      if (known !== undefined && offers(this.#office, method)) return known(params, this.#office);
      if (handling !== undefined) return nothing;
      throw new Refusal(CODE.unknownMethod, `there is no method ${method}`, { method });
    } catch (error) {
      if (error instanceof Refusal && "result" in answer) return nothing;
      throw error;
    }
  }

  async #endTurn(sessionId: string): Promise<void> {
    const turn = this.#turns.of(sessionId);
    turn?.cancel("session/close");
    await turn?.answered;
  }
}

function isList(scripted: Handling | readonly Handling[] | undefined): scripted is readonly Handling[] {
  return Array.isArray(scripted);
}
