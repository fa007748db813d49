/** What a server may ask of us: roots, questions to a person, and the session's model. */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";
import { Allowance } from "./allowance.ts";
import type { CallsInFlight } from "./calls/in-flight.ts";
import { rpcError } from "./link.ts";
import type { ServersOptions } from "./options.ts";
import type { Outlet } from "./outlet.ts";
import { answerOf, readAsking, type Asking } from "./questions.ts";
import { readSampling, samplingResult, SamplingRefused } from "./sampling.ts";

export interface HandlersOptions extends Pick<ServersOptions, "cwd" | "sample"> {
  readonly server: string;
  readonly outlet: Outlet;
  readonly calls: CallsInFlight;
}

/** Questions of one server, to a person or to the model, that may be open at a time; more are cancelled or refused. */
const MAX_OPEN = 32;
/** Each is written down, also where it is answered by nobody: a server that asks for ever is not heard for ever. */
const ASKED = { atOnce: 100, perSecond: 1 };
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
/** The protocol's own example of a user's refusal. */
const REFUSED = -1;

export class Handlers {
  readonly #options: HandlersOptions;
  readonly #completions = new Map<string, Deferred<void>>();
  readonly #allowance = new Allowance(ASKED);
  #open = 0;

  constructor(options: HandlersOptions) {
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
      const asking = read(() => readAsking(server, params));
      return answerOf(asking, await this.ask(asking, signal));
    }
    if (method !== "sampling/createMessage" || sample === undefined)
      throw rpcError(METHOD_NOT_FOUND, `there is no ${method} here`);
    const request = read(() => readSampling(params));
    if (!this.#mayAsk()) throw rpcError(REFUSED, "there are too many questions already");
    this.#open += 1;
    const call = calls.latest?.signal;
    const either = call === undefined ? signal : AbortSignal.any([signal, call]);
    try {
      return samplingResult(await calls.unhurried(() => sample(request, { server, signal: either })));
    } catch (error) {
      if (error instanceof SamplingRefused) throw rpcError(REFUSED, `User rejected sampling request: ${error.message}`);
      throw error;
    } finally {
      this.#open -= 1;
    }
  }

  /** What cannot be asked any more is cancelled. */
  async ask(
    asking: Asking,
    signal: AbortSignal,
  ): Promise<{ action: "accept" | "decline" | "cancel"; content?: unknown }> {
    const { calls, outlet } = this.#options;
    if (!this.#mayAsk()) return { action: "cancel" };
    this.#open += 1;
    const completion = deferred();
    const id = asking.elicitationId;
    if (id !== undefined) this.#completions.set(id, completion);
    const call = calls.latest;
    const either = call === undefined ? signal : AbortSignal.any([signal, call.signal]);
    const options = { signal: either, completed: completion.promise };
    try {
      return await calls.unhurried(() => (call ?? outlet).ask(asking.question, options));
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
    return this.#open < MAX_OPEN && this.#allowance.take();
  }
}

function read<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw rpcError(INVALID_PARAMS, messageOf(error));
  }
}
