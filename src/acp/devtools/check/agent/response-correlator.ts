/** Matches responses to requests, even if the response has a wrong or missing id. */
import { deferred, type Deferred } from "../../../../stdx/index.ts";
import type { Findings } from "../findings.ts";
import { quoteJson } from "../quote.ts";
import type { AgentResponse, CheckRequestId } from "./message.ts";
import type { RequestOutcome } from "./outcome.ts";

interface SentRequest {
  readonly id: CheckRequestId;
  readonly method: string;
  readonly outcome: Deferred<RequestOutcome>;
  /** Number of responses so far. The request stays known after its timeout, so that a late response is recognized. */
  answers: number;
}

export interface MatchedResponse {
  readonly method: string;
  readonly outcome: RequestOutcome;
}

export class ResponseCorrelator {
  readonly #requests: SentRequest[] = [];
  readonly #echoed = new Set<string>();
  readonly #findings: Findings;
  #lastNotification: string | undefined;
  #exit: string | undefined;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  addRequest(id: CheckRequestId, method: string): Promise<RequestOutcome> {
    const pending: SentRequest = { id, method, outcome: deferred<RequestOutcome>(), answers: 0 };
    this.#requests.push(pending);
    if (this.#exit !== undefined) pending.outcome.resolve({ kind: "ended", how: this.#exit });
    return pending.outcome.promise;
  }

  addNotification(method: string): void {
    this.#lastNotification = method;
  }

  /** Resolves all open requests: no more answers will come. */
  end(how: string): void {
    this.#exit = how;
    for (const { outcome } of this.#requests) outcome.resolve({ kind: "ended", how });
  }

  /** Undefined if the response belongs to no open request. */
  matchResponse(response: AgentResponse): MatchedResponse | undefined {
    const nameless = response.id === undefined || response.id === null;
    if (nameless && this.#lastNotification !== undefined) {
      this.#findings.fail(
        4,
        `the notification ${this.#lastNotification} was answered with ${quoteJson(response.body)}`,
      );
      return undefined;
    }
    const same = this.#requests.find(({ id }) => id === response.id);
    const alike = same?.answers === 0 ? undefined : this.#guessRequest(response.id, nameless);
    const pending = alike ?? same;
    if (pending === undefined || pending === alike) this.#reportWrongId(response, pending);
    else this.#recordEcho(pending.id);
    return pending === undefined ? undefined : this.#answer(pending, response);
  }

  /** Guesses the request, so that one wrong id is not reported as an agent that never answers. */
  #guessRequest(id: unknown, nameless: boolean): SentRequest | undefined {
    const open = this.#requests.filter(({ answers }) => answers === 0);
    return nameless ? open[0] : open.find((pending) => String(pending.id) === String(id));
  }

  #reportWrongId(response: AgentResponse, request: SentRequest | undefined): void {
    const got = response.id === undefined ? "no id" : `the id ${quoteJson(response.id)}`;
    const suffix = request === undefined ? ", which no request used" : ` instead of ${quoteJson(request.id)}`;
    this.#findings.fail(2, `a response has ${got}${suffix}`);
  }

  #recordEcho(id: CheckRequestId): void {
    this.#echoed.add(typeof id);
    if (this.#echoed.size === 2) this.#findings.pass(2);
  }

  #answer(pending: SentRequest, { body }: AgentResponse): MatchedResponse | undefined {
    pending.answers += 1;
    const { method } = pending;
    if (pending.answers > 1) {
      this.#findings.fail(3, `${method} was answered more than once`);
      return undefined;
    }
    const count = Number("result" in body) + Number("error" in body);
    if (count === 1) this.#findings.pass(3);
    else
      this.#findings.fail(
        3,
        `${method} was answered with ${count === 0 ? "neither a result nor an error" : "both a result and an error"}: ${quoteJson(body)}`,
      );
    const outcome = toRequestOutcome(body);
    pending.outcome.resolve(outcome);
    return { method, outcome };
  }
}

function toRequestOutcome(body: Readonly<Record<string, unknown>>): RequestOutcome {
  if ("result" in body && (body["error"] === undefined || body["error"] === null)) {
    return { kind: "result", result: body["result"] };
  }
  return "error" in body ? { kind: "error", error: body["error"] } : { kind: "empty" };
}
