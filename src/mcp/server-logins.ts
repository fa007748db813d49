/** The logins of one server connection: those that are requested, and the one that is offered automatically. */
import { messageOf, type LoginOutcome } from "../domain/index.ts";
import type { Authorizer } from "./authorizer.ts";
import type { SessionBridge } from "./session-bridge.ts";

export interface ServerLoginsOptions {
  readonly authorizer: Authorizer | undefined;
  readonly bridge: SessionBridge;
  /** Cancels all logins. */
  readonly closing: AbortSignal;
  /** Called after a successful login. */
  onDone(): void;
}

export class ServerLogins {
  readonly #options: ServerLoginsOptions;
  /** Each login in progress has an open callback port. */
  readonly #inProgress = new Set<Promise<unknown>>();
  #hasOffered = false;

  constructor(options: ServerLoginsOptions) {
    this.#options = options;
  }

  async login(signal: AbortSignal): Promise<LoginOutcome> {
    const { authorizer, bridge, closing } = this.#options;
    if (authorizer === undefined) return { status: "failed", reason: "no login is available for this server" };
    const combined = AbortSignal.any([signal, closing]);
    const login = authorizer.login({ ask: (question, options) => bridge.ask(question, options), signal: combined });
    const settled: Promise<unknown> = login.catch(() => undefined).finally(() => this.#inProgress.delete(settled));
    this.#inProgress.add(settled);
    const outcome = await login;
    if (outcome.status === "done") this.#options.onDone();
    return outcome;
  }

  /**
   * Offers a login if someone can answer and `isNeeded` still holds. Offers it once until `allowOffer` is called, so that a
   * user who declined is not asked again automatically. Resolves with the reason if the offered login did not succeed.
   */
  async offer(isNeeded: () => boolean): Promise<string | undefined> {
    const { authorizer, bridge, closing } = this.#options;
    if (this.#hasOffered || authorizer === undefined) return undefined;
    const session = await bridge.session;
    if (!session.attended || !isNeeded() || this.#hasOffered) return undefined;
    this.#hasOffered = true;
    try {
      const outcome = await this.login(closing);
      if (outcome.status === "done" || !isNeeded()) return undefined;
      return outcome.status === "failed" ? `the login failed: ${outcome.reason}` : `the login was ${outcome.status}`;
    } catch (error) {
      return closing.aborted ? undefined : `the login failed: ${messageOf(error)}`;
    }
  }

  allowOffer(): void {
    this.#hasOffered = false;
  }

  /** Resolves when no login is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#inProgress);
  }
}
