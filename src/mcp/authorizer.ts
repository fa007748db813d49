/** How a connection gets past a server that wants a login: the port between connections and OAuth. */
import type { AskOptions, LoginOutcome, Question, QuestionAnswer } from "../domain/index.ts";

export interface Authorizer {
  /**
   * Like the global one, with the token of this server where there is one; an expired token is refreshed first, or
   * once after a refusal. Rejects with `LoginNeeded` where only a person can help.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** The whole way to a token. Who asks while another login of the same server is under way, here or in another process, waits for that one. */
  login(options: LoginOptions): Promise<LoginOutcome>;
  /** Revokes what can be revoked, and forgets the rest. False where there was nothing. */
  logout(signal: AbortSignal): Promise<boolean>;
}

export interface LoginOptions {
  /** Shows the URL to a person. Resolves with what they said, or as accepted when `completed` resolves. */
  ask(question: Question, options: AskOptions): Promise<QuestionAnswer>;
  readonly signal: AbortSignal;
}

/** The server refuses what we have; `rookery mcp auth` or an answered question helps. */
export class LoginNeeded extends Error {
  readonly server: string;

  constructor(server: string, why: string, options?: { cause?: unknown }) {
    super(`${server} wants a login: ${why}`, options);
    this.name = "LoginNeeded";
    this.server = server;
  }
}

/** One that is loaded when it is first needed: most servers want no login. */
export function lateAuthorizer(load: () => Promise<Authorizer>): Authorizer {
  return {
    fetch: async (url, init) => (await load()).fetch(url, init),
    login: async (options) => (await load()).login(options),
    logout: async (signal) => (await load()).logout(signal),
  };
}
