/** A scripted ACP agent on a pair of streams, which real clients take for a real one. */

import type { Readable, Writable } from "node:stream";
import { deferred } from "../../stdx/index.ts";
import { Client } from "./client.ts";
import { Exchange, type Outcome } from "./exchange.ts";
import { admit, METHODS, offers, type Office, type Usual } from "./methods.ts";
import { AgentRecord, type Entry } from "./record.ts";
import { CODE, isObject, objectOr, Refusal } from "./rpc.ts";
import { Cancelled, type Host, type Stage } from "./scene.ts";
import type { Handling, JsonObject, Script } from "./script.ts";
import { Sessions } from "./sessions.ts";
import { openScene } from "./steps/play.ts";
import { Turns } from "./turns.ts";
import { linesOf, Output } from "./wire.ts";

export interface AcpAgentOptions {
  readonly script: Script;
  readonly input: Readable;
  readonly output: Writable;
  /** What `exit` and `stderr` act on. Left out: the agent lives in this process, and only its streams end. */
  readonly host?: Host;
}

/** How an agent ended. */
export interface Ending {
  readonly reason: "eof" | "exit" | "closed";
  readonly code: number | null;
  readonly signal: string | null;
}

export function startAcpAgent(options: AcpAgentOptions): AcpAgent {
  return new AcpAgent(options);
}

const CANCELLED_REQUEST: Outcome = { error: { code: CODE.cancelled, message: "the request was cancelled" } };

export class AcpAgent implements AsyncDisposable {
  readonly #script: Script;
  readonly #input: Readable;
  readonly #record: AgentRecord;
  readonly #stage: Stage;
  readonly #turns: Turns;
  readonly #office: Office;
  readonly #exchanges = new Map<unknown, Exchange>();
  readonly #calls = new Map<string, number>();
  readonly #gone = new AbortController();
  readonly #ending = deferred<Ending>();

  /** Use `startAcpAgent`. */
  constructor({ script, input, output, host }: AcpAgentOptions) {
    this.#script = script;
    this.#input = input;
    this.#record = new AgentRecord(script.record);
    const out = new Output(output);
    const sessions = new Sessions(script);
    this.#stage = {
      client: new Client(out, script.ids),
      output: out,
      record: this.#record,
      sessions,
      host: host ?? this.#inProcess(),
      gone: this.#gone.signal,
    };
    this.#turns = new Turns(script);
    this.#office = { script, sessions, authenticated: false, endTurn: (sessionId) => this.#endTurn(sessionId) };
    void this.#live();
  }

  /** Everything that happened, in order. */
  get entries(): readonly Entry[] {
    return this.#record.entries;
  }

  /** Every message that arrived, in order and as it was. */
  get received(): readonly unknown[] {
    return this.#record.received;
  }

  /** What is wrong with the script or the client rather than with what is tested. */
  get problems(): readonly string[] {
    return this.#record.problems;
  }

  /** Resolves when the agent has written its last. */
  get closed(): Promise<Ending> {
    return this.#ending.promise;
  }

  /** Waits for the first message with this method, and gives its params. */
  async receivedMethod(method: string): Promise<JsonObject> {
    const wanted = (entry: Entry): boolean => entry.type === "received" && methodOf(entry.message) === method;
    const entry = await this.#record.find(wanted, this.#gone.signal);
    return objectOr(entry.type === "received" ? objectOr(entry.message)["params"] : {});
  }

  /** Ends what is under way and both streams. Closing twice is fine. */
  async close(): Promise<void> {
    await this.#end({ reason: "closed", code: null, signal: null });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #live(): Promise<void> {
    const { onStart = [], process: { deaf = false, ignoreEof = false } = {} } = this.#script;
    try {
      if (onStart.length > 0) await this.#aside(onStart);
      if (deaf) return;
      for await (const line of linesOf(this.#input)) this.#receive(line);
    } catch (error) {
      if (!this.#input.destroyed) this.#record.problem(String(error));
    }
    this.#record.add({ type: "eof" });
    if (!ignoreEof) await this.#end({ reason: "eof", code: 0, signal: null });
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#record.add({ type: "malformed", line });
      this.#refuse(null, new Refusal(CODE.parse, "a line is not JSON"));
      return;
    }
    this.#record.add({ type: "received", message });
    if (!isObject(message)) return this.#refuse(null, new Refusal(CODE.invalidRequest, "a message must be an object"));
    const { id, method } = message;
    if (typeof method !== "string") return this.#settle(message);
    if ("id" in message) this.#answer(id, method, objectOr(message["params"]));
    else this.#hear(method, objectOr(message["params"]));
  }

  #settle(message: JsonObject): void {
    const reply = "error" in message ? { error: message["error"] as never } : { result: message["result"] };
    if (!this.#stage.client.settle(message["id"], reply)) {
      this.#record.problem(`a response to nothing: ${JSON.stringify(message)}`);
    }
  }

  #hear(method: string, params: JsonObject): void {
    if (method === "session/cancel") this.#turnOf(params["sessionId"])?.cancel(method);
    if (method === "$/cancel_request") this.#exchanges.get(params["requestId"])?.cancel(method);
    const { steps } = this.#handling(method) ?? {};
    if (steps !== undefined) void this.#aside(steps, this.#office.sessions.find(params["sessionId"])?.sessionId);
  }

  #answer(id: unknown, method: string, params: JsonObject): void {
    try {
      const exchange =
        method === "session/prompt"
          ? this.#prompt(id, params)
          : this.#serve(id, method, params, this.#handling(method));
      this.#exchanges.set(id, exchange);
      void exchange.done.then(() => this.#exchanges.delete(id));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(id, error);
    }
  }

  #prompt(id: unknown, params: JsonObject): Exchange {
    admit(this.#office);
    const session = this.#office.sessions.active(params["sessionId"]);
    if (this.#turnOf(session.sessionId) !== undefined) {
      throw new Refusal(CODE.invalidRequest, `session ${session.sessionId} already has a prompt`);
    }
    const { onCancel = {}, ...handling } = this.#turns.next(params, this.#record);
    this.#turns.remember(session, params);
    const exchange = new Exchange(this.#stage, {
      id,
      usual: { stopReason: "end_turn" },
      handling,
      onCancel,
      cancelled: { result: { stopReason: "cancelled" } },
      session,
    });
    this.#turns.begin(session.sessionId, exchange);
    void exchange.done.then(() => this.#office.sessions.keep());
    return exchange;
  }

  #serve(id: unknown, method: string, params: JsonObject, handling: Handling | undefined): Exchange {
    const { result, session, first } = this.#usual(method, params, handling);
    const { replay: when = "before" } = this.#script;
    const replays = method === "session/load" && when !== "never" && session !== undefined;
    return new Exchange(this.#stage, {
      id,
      usual: result,
      handling: handling ?? {},
      onCancel: {},
      cancelled: CANCELLED_REQUEST,
      session,
      first,
      replay: replays ? { when, updates: [...session.history] } : undefined,
    });
  }

  /** A script that says what is answered is obeyed also where a well-behaved agent would refuse. */
  #usual(method: string, params: JsonObject, handling: Handling | undefined): Usual {
    const { answer = {} } = handling ?? {};
    try {
      const known = METHODS[method];
      if (known !== undefined && offers(this.#office, method)) return known(params, this.#office);
      if (handling !== undefined) return { result: {} };
      throw new Refusal(CODE.unknownMethod, `there is no method ${method}`, { method });
    } catch (error) {
      if (error instanceof Refusal && ("result" in answer || answer.error !== undefined)) return { result: {} };
      throw error;
    }
  }

  #handling(method: string): Handling | undefined {
    const scripted = this.#script.on?.[method];
    const call = this.#calls.get(method) ?? 0;
    this.#calls.set(method, call + 1);
    return isList(scripted) ? scripted[call] : scripted;
  }

  #turnOf(sessionId: unknown): Exchange | undefined {
    return this.#turns.of(sessionId);
  }

  async #endTurn(sessionId: string): Promise<void> {
    const turn = this.#turnOf(sessionId);
    turn?.cancel("session/close");
    await turn?.done;
  }

  #refuse(id: unknown, { error }: Refusal): void {
    void this.#stage.output.send({ jsonrpc: "2.0", id, error });
  }

  /** Steps that belong to no request. */
  async #aside(steps: NonNullable<Handling["steps"]>, sessionId?: string): Promise<void> {
    const never = new AbortController().signal;
    try {
      await openScene(this.#stage, { sessionId, signal: never, owed: never }).play(steps);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.#record.problem(error instanceof Error ? error.message : String(error));
    }
  }

  async #end(ending: Ending): Promise<void> {
    this.#gone.abort(new Cancelled("gone"));
    if (ending.reason === "eof") await Promise.all([...this.#exchanges.values()].map(({ done }) => done));
    await this.#stage.output.end();
    this.#input.destroy();
    this.#record.close();
    this.#ending.resolve(ending);
  }

  #inProcess(): Host {
    return {
      exit: async ({ code = null, signal = null }) => {
        await this.#end({ reason: "exit", code: signal === null ? (code ?? 0) : null, signal });
        throw new Cancelled("gone");
      },
      stderr: () => undefined,
    };
  }
}

function isList(scripted: Handling | readonly Handling[] | undefined): scripted is readonly Handling[] {
  return Array.isArray(scripted);
}

function methodOf(message: unknown): unknown {
  return isObject(message) ? message["method"] : undefined;
}
