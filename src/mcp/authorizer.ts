/** The interface between connections and OAuth: how a connection authenticates to a server that requires a login. */
import type { AskOptions, LoginOutcome, Question, QuestionAnswer, WaitOptions } from "../domain/index.ts";

export interface Authorizer {
  /**
   * Like the global `fetch`, with this server's token if there is one. Refreshes an expired token first, and a rejected
   * token once. Rejects with `LoginNeeded` if only the user can help.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * Runs the whole login. If another login for the same server is in progress, here or in another process, waits for
   * that one.
   */
  login(options: LoginOptions): Promise<LoginOutcome>;
  /** Revokes the tokens if possible and removes them. Resolves with false if there was no login. */
  logout(options?: WaitOptions): Promise<boolean>;
}

export interface LoginOptions {
  /** Shows the URL to the user. Resolves with the answer, or with "accept" when `completed` resolves. */
  ask(question: Question, options: AskOptions): Promise<QuestionAnswer>;
  readonly signal: AbortSignal;
}

/** The server rejects our credentials. `rookery mcp auth` or an answered login question helps. */
export class LoginNeeded extends Error {
  readonly server: string;

  constructor(server: string, why: string, options?: { cause?: unknown }) {
    super(`${server} requires a login: ${why}`, options);
    this.name = "LoginNeeded";
    this.server = server;
  }
}

/** Loads the authorizer on first use, because most servers require no login. */
export function lazyAuthorizer(load: () => Promise<Authorizer>): Authorizer {
  return {
    fetch: async (url, init) => (await load()).fetch(url, init),
    login: async (options) => (await load()).login(options),
    logout: async (options) => (await load()).logout(options),
  };
}
