/** Handles requests from a server: roots, questions to the user, and sampling. */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";
import { RateLimiter } from "./rate-limiter.ts";
import type { CallsInFlight } from "./calls/in-flight.ts";
import { rpcError } from "./link.ts";
import type { ServersOptions } from "./options.ts";
import type { SessionBridge } from "./session-bridge.ts";
import { toElicitationResult, parseServerQuestion, type ServerQuestion } from "./elicitation.ts";
import { readSampling, samplingResult, SamplingRefused } from "./sampling.ts";

export interface ServerRequestHandlersOptions extends Pick<ServersOptions, "cwd" | "sample"> {
  readonly server: string;
  readonly bridge: SessionBridge;
  readonly calls: CallsInFlight;
}

/** Open questions of one server, to the user or the model. Further ones are cancelled or refused. */
const MAX_OPEN_QUESTIONS = 32;
/** Rate limit, because every question is recorded even if nobody answers it. */
const QUESTION_RATE = { atOnce: 100, perSecond: 1 };
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
/** The protocol's example code for a refusal by the user. */
const USER_REFUSED = -1;

export class ServerRequestHandlers {
  readonly #options: ServerRequestHandlersOptions;
  readonly #completions = new Map<string, Deferred<void>>();
  readonly #rateLimiter = new RateLimiter(QUESTION_RATE);
  #open = 0;

  constructor(options: ServerRequestHandlersOptions) {
    this.#options = options;
  }

  get capabilities(): Record<string, object> {
    const { sample } = this.#options;
    return { roots: {}, elicitation: { form: {}, url: {} }, ...(sample !== undefined && { sampling: {} }) };
  }

  async request(method: string, params: unknown, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { cwd, sample, server, calls } = this.#options;
    if (method === "roots/list") return { roots: [{ uri: pathToFileURL(cwd).href, name: basename(cwd) }] };
    if (method === "elicitation/create") {
      const serverQuestion = parseParams(() => parseServerQuestion(server, params));
      return toElicitationResult(serverQuestion, await this.ask(serverQuestion, signal));
    }
    if (method !== "sampling/createMessage" || sample === undefined)
      throw rpcError(METHOD_NOT_FOUND, `Rookery does not support ${method}`);
    const request = parseParams(() => readSampling(params));
    if (!this.#mayAsk()) throw rpcError(USER_REFUSED, "too many questions; try again later");
    this.#open += 1;
    const call = calls.latest?.signal;
    const combined = call === undefined ? signal : AbortSignal.any([signal, call]);
    try {
      return samplingResult(await calls.withTimeoutsPaused(() => sample(request, { server, signal: combined })));
    } catch (error) {
      if (error instanceof SamplingRefused)
        throw rpcError(USER_REFUSED, `User rejected sampling request: ${error.message}`);
      throw error;
    } finally {
      this.#open -= 1;
    }
  }

  /** Resolves with "cancel" if the question cannot be asked. */
  async ask(
    serverQuestion: ServerQuestion,
    signal: AbortSignal,
  ): Promise<{ action: "accept" | "decline" | "cancel"; content?: unknown }> {
    const { calls, bridge } = this.#options;
    if (!this.#mayAsk()) return { action: "cancel" };
    this.#open += 1;
    const completion = deferred();
    const id = serverQuestion.elicitationId;
    if (id !== undefined) this.#completions.set(id, completion);
    const call = calls.latest;
    const combined = call === undefined ? signal : AbortSignal.any([signal, call.signal]);
    const options = { signal: combined, completed: completion.promise };
    try {
      return await calls.withTimeoutsPaused(() => (call ?? bridge).ask(serverQuestion.question, options));
    } catch {
      return { action: "cancel" };
    } finally {
      this.#open -= 1;
      if (id !== undefined && this.#completions.get(id) === completion) this.#completions.delete(id);
    }
  }

  completed(params: unknown): void {
    const { elicitationId } = (params ?? {}) as { elicitationId?: unknown };
    if (typeof elicitationId === "string") this.#completions.get(elicitationId)?.resolve();
  }

  #mayAsk(): boolean {
    return this.#open < MAX_OPEN_QUESTIONS && this.#rateLimiter.take();
  }
}

function parseParams<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw rpcError(INVALID_PARAMS, messageOf(error));
  }
}
