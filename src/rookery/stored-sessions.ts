/**
 * Operations on sessions in the log that any process can do without driving them. Every method checks its arguments
 * first.
 */
import type { InputPart } from "../domain/index.ts";
import { requireFolder } from "../opening/index.ts";
import {
  answerRequest,
  cancelStoredTurn,
  checkCancelOptions,
  checkForkOptions,
  checkSearchOptions,
  checkTellOptions,
  checkText,
  endStoredSession,
  deleteStoredSession,
  forkStoredSession,
  isOtherProcessError,
  parseRevokeOptions,
  queueStoredInput,
  revokeStoredGrant,
  searchSessions,
  withdrawStoredInput,
  type Answer,
  type Deliver,
  type RevokeOptions,
  type SearchQuery,
  type SearchResult,
} from "../session/index.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { leaseOptionsOf, type ProcessContext } from "./process-context.ts";

export class StoredSessions {
  readonly #context: ProcessContext;
  readonly #live: LiveSessions;

  constructor(context: ProcessContext, live: LiveSessions) {
    this.#context = context;
    this.#live = live;
  }

  answer(sessionId: string, requestId: string, answer: Answer): Promise<void> {
    const { store, clock } = this.#context;
    return answerRequest(store, { sessionId, requestId, answer, clock });
  }

  async tell(sessionId: string, input: string | readonly InputPart[], options: { deliver?: Deliver }): Promise<string> {
    checkTellOptions(options);
    const { store, clock } = this.#context;
    return queueStoredInput(store, { sessionId, input, ...options, clock });
  }

  async withdraw(sessionId: string, inputId: string): Promise<readonly InputPart[]> {
    checkText(sessionId, "the session id");
    checkText(inputId, "the input id");
    const { store, clock } = this.#context;
    return withdrawStoredInput(store, { sessionId, inputId, clock });
  }

  async cancelTurn(sessionId: string, options: { turnId?: string }): Promise<string | undefined> {
    checkText(sessionId, "the session id");
    checkCancelOptions(options);
    const { store, clock } = this.#context;
    const turnId = await cancelStoredTurn(store, { ...options, sessionId, clock });
    if (turnId !== undefined) {
      await this.#live.settle(sessionId, turnId).catch((error: unknown) => {
        if (!isOtherProcessError(error)) throw error;
      });
    }
    return turnId;
  }

  async revoke(sessionId: string, tool: string, options: RevokeOptions): Promise<void> {
    checkText(sessionId, "the session id");
    checkText(tool, "the tool");
    const { prefix } = parseRevokeOptions(options);
    const { store, clock } = this.#context;
    return revokeStoredGrant(store, { sessionId, tool, prefix, clock });
  }

  async end(sessionId: string, reason: string | undefined): Promise<void> {
    checkText(sessionId, "the session id");
    if (reason !== undefined) checkText(reason, "the reason");
    return endStoredSession({ ...leaseOptionsOf(this.#context), attended: false }, sessionId, reason);
  }

  async fork(
    sessionId: string,
    options: { readonly cwd?: string; readonly title?: string; readonly through?: number },
  ): Promise<string> {
    checkText(sessionId, "the session id");
    checkForkOptions(options);
    const { title, through } = options;
    const cwd = options.cwd === undefined ? undefined : this.#context.resolveFolder(options.cwd);
    if (cwd !== undefined) await requireFolder(cwd);
    return forkStoredSession(leaseOptionsOf(this.#context), sessionId, { cwd, title, through });
  }

  async search(text: string, options: Omit<SearchQuery, "text">): Promise<SearchResult> {
    checkText(text, "the words");
    checkSearchOptions(options);
    return searchSessions(this.#context.store, { ...options, text });
  }

  async delete(sessionId: string): Promise<void> {
    checkText(sessionId, "the session id");
    await this.#live.release(sessionId);
    await deleteStoredSession(leaseOptionsOf(this.#context), sessionId);
  }
}
