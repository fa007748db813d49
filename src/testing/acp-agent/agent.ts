/** A scripted ACP agent on a pair of streams, for tests of real clients. */

import type { Readable, Writable } from "node:stream";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { checkScript } from "./check.ts";
import { ClientHandle } from "./client-handle.ts";
import { RequestDispatcher } from "./dispatcher.ts";
import { AgentRecord, type AcpRecordEntry } from "./record.ts";
import { RPC_ERROR, isObject, toObject, type JsonObject, type RpcError } from "./rpc.ts";
import { RequestCancelled, type AcpAgentHost, type ScriptedAgentContext } from "./step-context.ts";
import type { AcpScript } from "./script.ts";
import type { AcpStep } from "./steps/steps.ts";
import { ScriptedSessions } from "./sessions.ts";
import { openStepContext } from "./steps/play.ts";
import { readLines, OrderedOutput } from "./streams.ts";

export interface AcpAgentOptions {
  readonly script: AcpScript;
  readonly input: Readable;
  readonly output: Writable;
  /** Carries out `exit`, `stderr` and `grandchild`. Default: the agent runs in this process, and `exit` only ends its streams. */
  readonly host?: AcpAgentHost;
}

/** How an agent ended. */
export interface AcpAgentEnding {
  readonly reason: "eof" | "exit" | "closed";
  readonly code: number | null;
  readonly signal: string | null;
}

/** Starts the agent. Throws if the script has an unknown key or step. */
export function startAcpAgent(options: AcpAgentOptions): AcpAgent {
  checkScript(options.script);
  return new AcpAgent(options);
}

export class AcpAgent implements AsyncDisposable {
  readonly #script: AcpScript;
  readonly #input: Readable;
  readonly #record: AgentRecord;
  readonly #agent: ScriptedAgentContext;
  readonly #dispatcher: RequestDispatcher;
  readonly #gone = new AbortController();
  readonly #ending = deferred<AcpAgentEnding>();
  #stderr = "";
  /** Resolves when the agent reads again. Undefined while it reads. */
  #deaf: Deferred<void> | undefined;

  /** Use `startAcpAgent`. */
  constructor({ script, input, output, host = this.#inProcess() }: AcpAgentOptions) {
    this.#script = script;
    this.#input = input;
    this.#record = new AgentRecord(script.record);
    const out = new OrderedOutput(output);
    this.#agent = {
      client: new ClientHandle(out, script.ids),
      output: out,
      record: this.#record,
      sessions: new ScriptedSessions(script),
      host,
      gone: this.#gone.signal,
      listen: (listening) => this.#listen(listening),
    };
    this.#dispatcher = new RequestDispatcher(script, this.#agent);
    void this.#live();
  }

  /** Everything that happened, in order. */
  get entries(): readonly AcpRecordEntry[] {
    return this.#record.entries;
  }

  /** Every message that arrived, unchanged and in order. */
  get received(): readonly unknown[] {
    return this.#record.received;
  }

  /** Mistakes in the script or the client, such as a prompt without a scripted turn. */
  get problems(): readonly string[] {
    return this.#record.problems;
  }

  /** The text of the `stderr` steps, if the agent runs in this process. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when the agent has ended and written everything. */
  get closed(): Promise<AcpAgentEnding> {
    return this.#ending.promise;
  }

  /** Waits for a message with this method and resolves with its params. `index` counts such messages from 0. */
  async receivedMethod(method: string, index = 0): Promise<JsonObject> {
    const hasMethod = (entry: AcpRecordEntry): boolean =>
      entry.type === "received" && isObject(entry.message) && entry.message["method"] === method;
    const wanted = (entry: AcpRecordEntry): boolean => this.entries.filter(hasMethod)[index] === entry;
    const entry = await this.#record.find(wanted, this.#gone.signal);
    return toObject(entry.type === "received" ? toObject(entry.message)["params"] : {});
  }

  /** Adds an entry that only the process of the agent knows about. */
  note(entry: Extract<AcpRecordEntry, { type: "started" | "signal" }>): void {
    this.#record.add(entry);
  }

  /** Cancels all requests and ends both streams. Closing twice is safe. */
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
      for await (const line of readLines(this.#input)) {
        this.#receive(line);
        await this.#deaf?.promise;
      }
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#record.problem(`reading the input failed: ${String(error)}`);
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
      this.#refuse({ code: RPC_ERROR.parse, message: "the line is not valid JSON" });
      return;
    }
    this.#record.add({ type: "received", message });
    if (!isObject(message))
      return this.#refuse({ code: RPC_ERROR.invalidRequest, message: "a message must be an object" });
    const { id, method } = message;
    const params = toObject(message["params"]);
    if (typeof method !== "string") this.#settle(message);
    else if ("id" in message) this.#dispatcher.answer(id, method, params);
    else this.#hear(method, params);
  }

  #settle(message: JsonObject): void {
    const { id, error } = message;
    const reply = error === undefined ? { result: message["result"] } : { error: error as RpcError };
    if (!this.#agent.client.settle(id, reply)) {
      this.#record.problem(`a response without a request: ${JSON.stringify(message)}`);
    }
  }

  #hear(method: string, params: JsonObject): void {
    if (method === "session/cancel") this.#dispatcher.cancelTurn(params["sessionId"], method);
    if (method === "$/cancel_request") this.#dispatcher.cancelRequest(params["requestId"]);
    const { steps = [] } = this.#dispatcher.nextHandling(method) ?? {};
    void this.#aside(steps, this.#agent.sessions.find(params["sessionId"])?.sessionId);
  }

  #refuse(error: RpcError): void {
    void this.#agent.output.send({ jsonrpc: "2.0", id: null, error });
  }

  /** Runs steps that belong to no request, so nothing can cancel them. */
  async #aside(steps: readonly AcpStep[], sessionId?: string): Promise<void> {
    const never = new AbortController().signal;
    try {
      await openStepContext(this.#agent, { sessionId, signal: never, owed: never }).play(steps);
    } catch (error) {
      if (!(error instanceof RequestCancelled))
        this.#record.problem(error instanceof Error ? error.message : String(error));
    }
  }

  #listen(listening: boolean): void {
    if (listening) this.#deaf?.resolve();
    this.#deaf = listening ? undefined : (this.#deaf ?? deferred());
  }

  async #end(ending: AcpAgentEnding): Promise<void> {
    this.#gone.abort(new RequestCancelled("gone"));
    this.#listen(true);
    if (ending.reason === "eof") await this.#dispatcher.settled();
    this.#input.destroy();
    await this.#agent.output.end();
    this.#record.close();
    this.#ending.resolve(ending);
  }

  #inProcess(): AcpAgentHost {
    return {
      exit: async ({ code = 0, signal = null }) => {
        await this.#end({ reason: "exit", code: signal === null ? code : null, signal });
        throw new RequestCancelled("gone");
      },
      stderr: (text) => void (this.#stderr += text),
    };
  }
}
