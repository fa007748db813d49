/** Answers the client's requests: with the default response of the method, or as the script says. */

import { RequestRun, type RequestPlan } from "./request-run.ts";
import { type RpcOutcome, RPC_ERROR, RpcFailure, type JsonObject } from "./rpc.ts";
import {
  requireAuthentication,
  METHODS,
  offersMethod,
  type MethodContext,
  type DefaultResponse,
} from "./methods/index.ts";
import type { CancelSource, ScriptedAgentContext } from "./step-context.ts";
import type { AcpHandling, AcpScript } from "./script.ts";
import { ScriptedTurns } from "./turns.ts";

const CANCELLED: RpcOutcome = { error: { code: RPC_ERROR.cancelled, message: "the request was cancelled" } };

export class RequestDispatcher {
  readonly #script: AcpScript;
  readonly #agent: ScriptedAgentContext;
  readonly #methodContext: MethodContext;
  readonly #turns: ScriptedTurns;
  /** Requests without an answer yet, by id. */
  readonly #open = new Map<unknown, RequestRun>();
  /** Requests whose `after` steps have not finished yet. */
  readonly #unfinished = new Set<Promise<void>>();
  readonly #calls = new Map<string, number>();

  constructor(script: AcpScript, agent: ScriptedAgentContext) {
    this.#script = script;
    this.#agent = agent;
    this.#turns = new ScriptedTurns(script);
    const { sessions, client } = agent;
    this.#methodContext = {
      script,
      sessions,
      client,
      authenticated: false,
      endTurn: (sessionId) => this.#endTurn(sessionId),
    };
  }

  answer(id: unknown, method: string, params: JsonObject): void {
    if (this.#open.has(id))
      this.#agent.record.problem(`the client used id ${JSON.stringify(id)} for two concurrent requests`);
    try {
      if (method === "session/prompt") this.#prompt(id, params);
      else this.#serve(id, method, params);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      void this.#agent.output.send({ jsonrpc: "2.0", id, error: error.error });
    }
  }

  cancelTurn(sessionId: unknown, by: CancelSource): void {
    this.#turns.findRunning(sessionId)?.cancel(by);
  }

  cancelRequest(id: unknown): void {
    this.#open.get(id)?.cancel("$/cancel_request");
  }

  /** Returns what the script has for this call of the method, and counts the call. */
  nextHandling(method: string): AcpHandling | undefined {
    const scripted = this.#script.on?.[method];
    const call = this.#calls.get(method) ?? 0;
    this.#calls.set(method, call + 1);
    return isList(scripted) ? scripted[call] : scripted;
  }

  /** Resolves when all requests so far are answered and their `after` steps have finished. */
  async settled(): Promise<void> {
    await Promise.all(this.#unfinished);
  }

  #prompt(id: unknown, params: JsonObject): void {
    requireAuthentication(this.#methodContext);
    const session = this.#methodContext.sessions.active(params["sessionId"]);
    if (this.#turns.findRunning(session.sessionId) !== undefined) {
      throw new RpcFailure(RPC_ERROR.invalidRequest, `session ${session.sessionId} already has a prompt`);
    }
    const { onCancel = {}, ...handling } = this.#turns.next(params, this.#agent.record);
    this.#turns.remember(session, params);
    this.#start(
      {
        id,
        defaultResult: { stopReason: "end_turn" },
        handling,
        onCancel,
        cancelled: { result: { stopReason: "cancelled" } },
        session,
        onAnswered: () => {
          this.#turns.end(session.sessionId);
          this.#methodContext.sessions.save();
        },
      },
      session.sessionId,
    );
  }

  #start(plan: RequestPlan, sessionId?: string): void {
    const { id } = plan;
    const onAnswered = (): void => {
      if (this.#open.get(id) === request) this.#open.delete(id);
      plan.onAnswered?.();
    };
    const request = new RequestRun(this.#agent, { ...plan, onAnswered });
    this.#open.set(id, request);
    if (sessionId !== undefined) this.#turns.start(sessionId, request);
    const done = request.run().finally(() => this.#unfinished.delete(done));
    this.#unfinished.add(done);
  }

  #serve(id: unknown, method: string, params: JsonObject): void {
    const handling = this.nextHandling(method);
    const { result, session, waitFor, replays = false } = this.#defaultResponse(method, params, handling);
    const { replay = "before" } = this.#script;
    this.#start({
      id,
      defaultResult: result,
      handling: handling ?? {},
      onCancel: {},
      cancelled: CANCELLED,
      session,
      waitFor: waitFor,
      replay: replays ? { when: replay, updates: [...(session?.history ?? [])] } : undefined,
    });
  }

  /** A scripted result wins even if a well-behaved agent would refuse the request. A scripted error skips the handler. */
  #defaultResponse(method: string, params: JsonObject, handling: AcpHandling | undefined): DefaultResponse {
    const session = this.#methodContext.sessions.find(params["sessionId"]);
    const nothing: DefaultResponse = { result: {}, ...(session !== undefined && { session }) };
    const { answer = {} } = handling ?? {};
    if (answer.error !== undefined) return nothing;
    try {
      const known = METHODS[method];
      if (known !== undefined && offersMethod(this.#methodContext, method)) return known(params, this.#methodContext);
      if (handling !== undefined) return nothing;
      throw new RpcFailure(RPC_ERROR.unknownMethod, `unknown method ${method}`, { method });
    } catch (error) {
      if (error instanceof RpcFailure && "result" in answer) return nothing;
      throw error;
    }
  }

  async #endTurn(sessionId: string): Promise<void> {
    const turn = this.#turns.findRunning(sessionId);
    turn?.cancel("session/close");
    await turn?.answered;
  }
}

function isList(scripted: AcpHandling | readonly AcpHandling[] | undefined): scripted is readonly AcpHandling[] {
  return Array.isArray(scripted);
}
