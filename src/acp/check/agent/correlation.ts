/** Finds the request that a response belongs to, however badly the response says so. */
import { deferred, type Deferred } from "../../../stdx/index.ts";
import type { Findings } from "../findings.ts";
import { quoted } from "../quote.ts";
import type { AgentResponse, RequestId } from "./message.ts";
import type { Outcome } from "./outcome.ts";

interface Pending {
  readonly id: RequestId;
  readonly method: string;
  readonly outcome: Deferred<Outcome>;
  /** Responses that came for it; a late one is still known after the waiting for it was given up. */
  answers: number;
}

export interface Answered {
  readonly method: string;
  readonly outcome: Outcome;
}

export class Correlation {
  readonly #requests: Pending[] = [];
  readonly #echoed = new Set<string>();
  readonly #findings: Findings;
  #notified: string | undefined;
  #ended: string | undefined;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  sent(id: RequestId, method: string): Promise<Outcome> {
    const pending: Pending = { id, method, outcome: deferred<Outcome>(), answers: 0 };
    this.#requests.push(pending);
    if (this.#ended !== undefined) pending.outcome.resolve({ kind: "ended", how: this.#ended });
    return pending.outcome.promise;
  }

  notified(method: string): void {
    this.#notified = method;
  }

  /** No answer will come any more. */
  end(how: string): void {
    this.#ended = how;
    for (const { outcome } of this.#requests) outcome.resolve({ kind: "ended", how });
  }

  /** Undefined for a response that belongs to no open request. */
  received(response: AgentResponse): Answered | undefined {
    const nameless = response.id === undefined || response.id === null;
    if (nameless && this.#notified !== undefined) {
      this.#findings.fail(4, `after the notification ${this.#notified} came ${quoted(response.body)}`);
      return undefined;
    }
    const same = this.#requests.find(({ id }) => id === response.id);
    const alike = same?.answers === 0 ? undefined : this.#alike(response.id, nameless);
    const pending = alike ?? same;
    if (pending === undefined || pending === alike) this.#notEchoed(response, pending);
    else this.#wasEchoed(pending.id);
    return pending === undefined ? undefined : this.#answer(pending, response);
  }

  /** What was meant, so that one wrong id does not look like an agent that never answers. */
  #alike(id: unknown, nameless: boolean): Pending | undefined {
    const open = this.#requests.filter(({ answers }) => answers === 0);
    return nameless ? open[0] : open.find((pending) => String(pending.id) === String(id));
  }

  #notEchoed(response: AgentResponse, meant: Pending | undefined): void {
    const got = response.id === undefined ? "no id" : `the id ${quoted(response.id)}`;
    const wanted = meant === undefined ? "which no request had" : `instead of ${quoted(meant.id)}`;
    this.#findings.fail(2, `a response has ${got}, ${wanted}`);
  }

  #wasEchoed(id: RequestId): void {
    this.#echoed.add(typeof id);
    if (this.#echoed.size === 2) this.#findings.pass(2);
  }

  #answer(pending: Pending, { body }: AgentResponse): Answered | undefined {
    pending.answers += 1;
    const { method } = pending;
    if (pending.answers > 1) {
      this.#findings.fail(3, `${method} was answered more than once`);
      return undefined;
    }
    const count = Number("result" in body) + Number("error" in body);
    if (count === 1) this.#findings.pass(3);
    else this.#findings.fail(3, `${method} was answered with ${count === 0 ? "neither" : "both"}: ${quoted(body)}`);
    const outcome = outcomeOf(body);
    pending.outcome.resolve(outcome);
    return { method, outcome };
  }
}

function outcomeOf(body: Readonly<Record<string, unknown>>): Outcome {
  if ("result" in body && (body["error"] === undefined || body["error"] === null)) {
    return { kind: "result", result: body["result"] };
  }
  return "error" in body ? { kind: "error", error: body["error"] } : { kind: "empty" };
}
