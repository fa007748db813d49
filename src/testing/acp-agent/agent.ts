/** A scripted ACP agent on a pair of streams, which real clients take for a real one. */

import type { Readable, Writable } from "node:stream";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { checkScript } from "./check.ts";
import { Client } from "./client.ts";
import { Desk } from "./desk.ts";
import { AgentRecord, type Entry } from "./record.ts";
import { CODE, isObject, objectOr } from "./rpc.ts";
import { Cancelled, type Host, type Stage } from "./scene.ts";
import type { JsonObject, RpcError, Script, Step } from "./script.ts";
import { Sessions } from "./sessions.ts";
import { openScene } from "./steps/play.ts";
import { linesOf, Output } from "./wire.ts";

export interface AcpAgentOptions {
  readonly script: Script;
  readonly input: Readable;
  readonly output: Writable;
  /** What `exit`, `stderr` and `grandchild` act on. Left out: the agent lives in this process, and only its streams end. */
  readonly host?: Host;
}

/** How an agent ended. */
export interface Ending {
  readonly reason: "eof" | "exit" | "closed";
  readonly code: number | null;
  readonly signal: string | null;
}

/** Throws when the script has a step that there is not. */
export function startAcpAgent(options: AcpAgentOptions): AcpAgent {
  checkScript(options.script);
  return new AcpAgent(options);
}

export class AcpAgent implements AsyncDisposable {
  readonly #script: Script;
  readonly #input: Readable;
  readonly #record: AgentRecord;
  readonly #stage: Stage;
  readonly #desk: Desk;
  readonly #gone = new AbortController();
  readonly #ending = deferred<Ending>();
  #stderr = "";
  /** Resolved when reading goes on; undefined while the agent reads. */
  #deaf: Deferred<void> | undefined;

  /** Use `startAcpAgent`. */
  constructor({ script, input, output, host = this.#inProcess() }: AcpAgentOptions) {
    this.#script = script;
    this.#input = input;
    this.#record = new AgentRecord(script.record);
    const out = new Output(output);
    this.#stage = {
      client: new Client(out, script.ids),
      output: out,
      record: this.#record,
      sessions: new Sessions(script),
      host,
      gone: this.#gone.signal,
      listen: (listening) => this.#listen(listening),
    };
    this.#desk = new Desk(script, this.#stage);
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

  /** What an agent in this process would have written to its standard error output. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when the agent has written its last. */
  get closed(): Promise<Ending> {
    return this.#ending.promise;
  }

  /** Waits for the message with this method and this index among those (from 0), and gives its params. */
  async receivedMethod(method: string, index = 0): Promise<JsonObject> {
    const hasMethod = (entry: Entry): boolean =>
      entry.type === "received" && isObject(entry.message) && entry.message["method"] === method;
    const wanted = (entry: Entry): boolean => this.entries.filter(hasMethod)[index] === entry;
    const entry = await this.#record.find(wanted, this.#gone.signal);
    return objectOr(entry.type === "received" ? objectOr(entry.message)["params"] : {});
  }

  /** Adds to the record what only the process knows. */
  note(entry: Extract<Entry, { type: "started" | "signal" }>): void {
    this.#record.add(entry);
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
    await this.#aside(onStart);
    if (deaf) return;
    try {
      for await (const line of linesOf(this.#input)) {
        this.#receive(line);
        await this.#deaf?.promise;
      }
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#record.problem(`the input failed: ${String(error)}`);
    }
    if (this.#gone.signal.aborted) return;
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
      this.#refuse({ code: CODE.parse, message: "a line is not JSON" });
      return;
    }
    this.#record.add({ type: "received", message });
    if (!isObject(message)) return this.#refuse({ code: CODE.invalidRequest, message: "a message must be an object" });
    const { id, method } = message;
    const params = objectOr(message["params"]);
    if (typeof method !== "string") this.#settle(message);
    else if ("id" in message) this.#desk.answer(id, method, params);
    else this.#hear(method, params);
  }

  #settle(message: JsonObject): void {
    const { id, error } = message;
    const reply = error === undefined ? { result: message["result"] } : { error: error as RpcError };
    if (!this.#stage.client.settle(id, reply)) {
      this.#record.problem(`a response to nothing: ${JSON.stringify(message)}`);
    }
  }

  #hear(method: string, params: JsonObject): void {
    if (method === "session/cancel") this.#desk.cancelTurn(params["sessionId"], method);
    if (method === "$/cancel_request") this.#desk.cancelRequest(params["requestId"]);
    const { steps = [] } = this.#desk.handling(method) ?? {};
    void this.#aside(steps, this.#stage.sessions.find(params["sessionId"])?.sessionId);
  }

  #refuse(error: RpcError): void {
    void this.#stage.output.send({ jsonrpc: "2.0", id: null, error });
  }

  /** Steps that belong to no request. */
  async #aside(steps: readonly Step[], sessionId?: string): Promise<void> {
    const never = new AbortController().signal;
    try {
      await openScene(this.#stage, { sessionId, signal: never, owed: never }).play(steps);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.#record.problem(error instanceof Error ? error.message : String(error));
    }
  }

  #listen(listening: boolean): void {
    if (listening) this.#deaf?.resolve();
    this.#deaf = listening ? undefined : (this.#deaf ?? deferred());
  }

  async #end(ending: Ending): Promise<void> {
    this.#gone.abort(new Cancelled("gone"));
    this.#listen(true);
    if (ending.reason === "eof") await this.#desk.settled();
    this.#input.destroy();
    await this.#stage.output.end();
    this.#record.close();
    this.#ending.resolve(ending);
  }

  #inProcess(): Host {
    return {
      exit: async ({ code = 0, signal = null }) => {
        await this.#end({ reason: "exit", code: signal === null ? code : null, signal });
        throw new Cancelled("gone");
      },
      stderr: (text) => void (this.#stderr += text),
    };
  }
}
