/** The connection to the agent under test. It reads every line and turns each fault into a finding. */
import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../../../../stdx/index.ts";
import type { Findings } from "../findings.ts";
import type { AgentMessageChecks } from "../schema/messages.ts";
import { ResponseCorrelator } from "./response-correlator.ts";
import {
  parseAgentLine,
  type AgentNotification,
  type AgentRequest,
  type AgentMessage,
  type CheckRequestId,
} from "./message.ts";
import type { RequestOutcome } from "./outcome.ts";
import { startCheckedProcess, type CheckedProcess, type CheckTarget } from "./process.ts";
import { defaultReply, type ClientReply } from "./reply.ts";

/** A message from the agent. A response is identified by the method that it answers. */
export type ObservedMessage =
  | AgentRequest
  | AgentNotification
  | { readonly kind: "answer"; readonly method: string; readonly outcome: RequestOutcome };

export interface CheckConnectionOptions {
  readonly target: CheckTarget;
  readonly marker: string;
  readonly findings: Findings;
  readonly messages: AgentMessageChecks;
  readonly timeoutMs: number;
  readonly settleMs: number;
  readonly signal: AbortSignal | undefined;
  /** How long an agent may take to exit after the end of its input. Reduced once one process did not exit in time. */
  readonly exitWait: { ms: number };
}

const REDUCED_EXIT_WAIT_MS = 100;

export class CheckConnection implements AsyncDisposable {
  readonly #options: CheckConnectionOptions;
  readonly #correlation: ResponseCorrelator;
  readonly #listeners = new Set<(observed: ObservedMessage) => void>();
  readonly #aborted: Promise<void>;
  #removeAbortListener: () => void = () => undefined;
  #process: CheckedProcess | undefined;
  #ended = false;
  #lastId = 0;
  /** Answers the agent's requests. */
  reply: (request: AgentRequest) => ClientReply = defaultReply;

  private constructor(options: CheckConnectionOptions) {
    this.#options = options;
    this.#correlation = new ResponseCorrelator(options.findings);
    this.#aborted = new Promise((resolve) => {
      const abort = (): void => resolve();
      options.signal?.addEventListener("abort", abort, { once: true });
      this.#removeAbortListener = () => options.signal?.removeEventListener("abort", abort);
    });
  }

  /** Rejects if the program cannot be started. */
  static async start(options: CheckConnectionOptions): Promise<CheckConnection> {
    const peer = new CheckConnection(options);
    peer.#process = await startCheckedProcess(options.target, options.marker, {
      line: (text) => peer.#read(text),
      noise: (why) => options.findings.fail(1, why),
    });
    void peer.#process.ended.then((how) => {
      peer.#ended = true;
      peer.#correlation.end(how);
    });
    return peer;
  }

  /** Alternates integer and string ids, so that every request also tests the echo. */
  request(method: string, params: unknown, id: CheckRequestId = this.#nextId()): Promise<RequestOutcome> {
    const outcome = this.#correlation.addRequest(id, method);
    this.#write({ jsonrpc: "2.0", id, method, params });
    return this.#withTimeout(outcome);
  }

  notify(method: string, params: unknown): void {
    this.#correlation.addNotification(method);
    this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Returns a function that removes the listener. */
  listen(listener: (observed: ObservedMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Waits until the agent has read everything sent so far and had time to react. Resolves with false if the agent
   * exited.
   */
  async settle(): Promise<boolean> {
    const { settleMs, signal } = this.#options;
    await settlesWithin(4 * settleMs, this.request("_rookery/settle", {}));
    await sleep(settleMs);
    signal?.throwIfAborted();
    return !this.#ended;
  }

  /** Resolves with true if the agent exited by itself after the end of its input. */
  async close(patienceMs = this.#options.exitWait.ms): Promise<boolean> {
    this.#removeAbortListener();
    const exitedByItself = (await this.#process?.close(patienceMs)) ?? true;
    if (!exitedByItself) this.#options.exitWait.ms = REDUCED_EXIT_WAIT_MS;
    return exitedByItself;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(this.#options.signal?.aborted ? 0 : undefined);
  }

  #nextId(): CheckRequestId {
    this.#lastId += 1;
    return this.#lastId % 2 === 0 ? this.#lastId : `rookery-${this.#lastId}`;
  }

  #write(message: object): void {
    this.#process?.write(JSON.stringify(message));
  }

  async #withTimeout(outcome: Promise<RequestOutcome>): Promise<RequestOutcome> {
    const { signal, timeoutMs } = this.#options;
    signal?.throwIfAborted();
    const settled = await settlesWithin(timeoutMs, Promise.race([outcome, this.#aborted]));
    signal?.throwIfAborted();
    return settled ? outcome : { kind: "silence" };
  }

  #read(line: string): void {
    const { findings } = this.#options;
    const { message, fault } = parseAgentLine(line);
    if (fault !== undefined) findings.fail(1, fault);
    else findings.pass(1);
    if (message !== undefined) this.#receive(message);
  }

  #receive(message: AgentMessage): void {
    const { messages } = this.#options;
    if (message.kind === "response") {
      const answered = this.#correlation.matchResponse(message);
      if (answered === undefined) return;
      this.#recordSchemaResult(findAnswerFault(messages, answered.method, answered.outcome), answered.method);
      this.#notifyListeners({ kind: "answer", ...answered });
      return;
    }
    this.#recordSchemaResult(messages[message.kind](message.method, message.params), message.method);
    this.#notifyListeners(message);
    if (message.kind === "request") this.#write({ jsonrpc: "2.0", id: message.id, ...this.reply(message) });
  }

  /** The response to `initialize` has its own check. */
  #recordSchemaResult(fault: string | undefined, method: string): void {
    if (method === "initialize") return;
    if (fault === undefined) this.#options.findings.pass(7);
    else this.#options.findings.fail(7, fault);
  }

  #notifyListeners(observed: ObservedMessage): void {
    for (const listener of [...this.#listeners]) listener(observed);
  }
}

function findAnswerFault(messages: AgentMessageChecks, method: string, outcome: RequestOutcome): string | undefined {
  if (outcome.kind === "result") return messages.result(method, outcome.result);
  return outcome.kind === "error" ? messages.error(outcome.error) : undefined;
}
