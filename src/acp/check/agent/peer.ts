/** The other side of an agent's pipes: it sees every line, and each thing that is wrong with one becomes a finding. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Findings } from "../findings.ts";
import type { AgentMessages } from "../schema/messages.ts";
import { Correlation } from "./correlation.ts";
import { readMessage, type AgentNotification, type AgentRequest, type Message, type RequestId } from "./message.ts";
import type { Outcome } from "./outcome.ts";
import { startAgent, within, type AgentProcess, type CheckTarget } from "./process.ts";
import { usualReply, type Reply } from "./reply.ts";

/** What the agent sent, with responses told by the method that they answer. */
export type Heard =
  AgentRequest | AgentNotification | { readonly kind: "answer"; readonly method: string; readonly outcome: Outcome };

export interface PeerOptions {
  readonly target: CheckTarget;
  readonly marker: string;
  readonly findings: Findings;
  readonly messages: AgentMessages;
  readonly timeoutMs: number;
  readonly settleMs: number;
  readonly signal: AbortSignal | undefined;
  /** How long an agent may take to end by itself once its input ended; less after one did not, as none will then. */
  readonly patience: { ms: number };
}

const SPENT_PATIENCE_MS = 100;

export class Peer implements AsyncDisposable {
  readonly #options: PeerOptions;
  readonly #correlation: Correlation;
  readonly #listeners = new Set<(heard: Heard) => void>();
  readonly #aborted: Promise<void>;
  #forget: () => void = () => undefined;
  #process: AgentProcess | undefined;
  #ended = false;
  #lastId = 0;
  /** What a request of the agent is answered with. */
  reply: (request: AgentRequest) => Reply = usualReply;

  private constructor(options: PeerOptions) {
    this.#options = options;
    this.#correlation = new Correlation(options.findings);
    this.#aborted = new Promise((resolve) => {
      const abort = (): void => resolve();
      options.signal?.addEventListener("abort", abort, { once: true });
      this.#forget = () => options.signal?.removeEventListener("abort", abort);
    });
  }

  /** Rejects where the program cannot be started. */
  static async start(options: PeerOptions): Promise<Peer> {
    const peer = new Peer(options);
    peer.#process = await startAgent(options.target, options.marker, {
      line: (text) => peer.#read(text),
      noise: (why) => options.findings.fail(1, why),
    });
    void peer.#process.ended.then((how) => {
      peer.#ended = true;
      peer.#correlation.end(how);
    });
    return peer;
  }

  /** Integers and strings take turns as ids, so that whatever is asked also tests the echo. */
  request(method: string, params: unknown, id: RequestId = this.#nextId()): Promise<Outcome> {
    const outcome = this.#correlation.sent(id, method);
    this.#write({ jsonrpc: "2.0", id, method, params });
    return this.#inTime(outcome);
  }

  notify(method: string, params: unknown): void {
    this.#correlation.notified(method);
    this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Until the function that it gives is called. */
  listen(listener: (heard: Heard) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What was sent so far was read by then, and what it set off had a moment to come; false where the agent ended. */
  async settle(): Promise<boolean> {
    const { settleMs, signal } = this.#options;
    await within(4 * settleMs, this.request("_rookery/settle", {}));
    await sleep(settleMs);
    signal?.throwIfAborted();
    return !this.#ended;
  }

  /** True where the agent ended by itself once its input had ended. */
  async close(patienceMs = this.#options.patience.ms): Promise<boolean> {
    this.#forget();
    const went = (await this.#process?.close(patienceMs)) ?? true;
    if (!went) this.#options.patience.ms = SPENT_PATIENCE_MS;
    return went;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(this.#options.signal?.aborted ? 0 : undefined);
  }

  #nextId(): RequestId {
    this.#lastId += 1;
    return this.#lastId % 2 === 0 ? this.#lastId : `rookery-${this.#lastId}`;
  }

  #write(message: object): void {
    this.#process?.write(JSON.stringify(message));
  }

  async #inTime(outcome: Promise<Outcome>): Promise<Outcome> {
    const { signal, timeoutMs } = this.#options;
    signal?.throwIfAborted();
    const came = await within(timeoutMs, Promise.race([outcome, this.#aborted]));
    signal?.throwIfAborted();
    return came ? outcome : { kind: "silence" };
  }

  #read(line: string): void {
    const { findings } = this.#options;
    const { message, fault } = readMessage(line);
    if (fault !== undefined) findings.fail(1, fault);
    else findings.pass(1);
    if (message !== undefined) this.#receive(message);
  }

  #receive(message: Message): void {
    const { messages } = this.#options;
    if (message.kind === "response") {
      const answered = this.#correlation.received(message);
      if (answered === undefined) return;
      this.#judge(answeredFault(messages, answered.method, answered.outcome), answered.method);
      this.#tell({ kind: "answer", ...answered });
      return;
    }
    this.#judge(messages[message.kind](message.method, message.params), message.method);
    this.#tell(message);
    if (message.kind === "request") this.#write({ jsonrpc: "2.0", id: message.id, ...this.reply(message) });
  }

  /** The answer to initialize has a check of its own. */
  #judge(fault: string | undefined, method: string): void {
    if (method === "initialize") return;
    if (fault === undefined) this.#options.findings.pass(7);
    else this.#options.findings.fail(7, fault);
  }

  #tell(heard: Heard): void {
    for (const listener of [...this.#listeners]) listener(heard);
  }
}

function answeredFault(messages: AgentMessages, method: string, outcome: Outcome): string | undefined {
  if (outcome.kind === "result") return messages.result(method, outcome.result);
  return outcome.kind === "error" ? messages.error(outcome.error) : undefined;
}
