/** The sessions that this process drives. */
import { RookeryError, type NativeSessionName, type RemoteServerSpec } from "../domain/index.ts";
import type { Authorizer } from "../mcp/authorizer.ts";
import { createAgentPreparer, type SharedServices } from "../opening/index.ts";
import {
  answerRequest,
  createSession,
  deleteStoredSession,
  listConversationBlobs,
  reopenSession,
  requireAttachments,
  settleStoredSession,
  toNamedChanges,
  toReplacementEvent,
  type NewSessionOptions,
  type Replacement,
  type Session,
} from "../session/index.ts";
import { NativeSessions } from "./native-sessions.ts";
import type { OpenSessionOptions } from "./options.ts";
import { leaseOptionsOf, type ProcessContext } from "./process-context.ts";

export class LiveSessions {
  readonly #context: ProcessContext;
  readonly #authorizer: (spec: RemoteServerSpec) => Authorizer;
  readonly #sessions = new Set<Session>();
  readonly native: NativeSessions;
  #closed = false;

  constructor(context: ProcessContext, authorizer: (spec: RemoteServerSpec) => Authorizer) {
    this.#context = context;
    this.#authorizer = authorizer;
    this.native = new NativeSessions(context, () => this.#sharedServices);
  }

  /** How many sessions this process drives, not counting those of tasks. */
  get count(): number {
    return [...this.#sessions].filter(({ state }) => state.task === undefined).length;
  }

  /** Rejects like `Rookery.openSession`, and with `store_closed` after `refuseNew`. */
  async open(options: OpenSessionOptions & Pick<NewSessionOptions, "child">): Promise<Session> {
    const conversation = await this.#readConversation(options);
    if (options.adopt !== undefined) return this.#openAdopted(options, options.adopt);
    const { id, agent, model, permissions, title, task, child, budget, taskBudget } = options;
    const { resolveFolder } = this.#context;
    const cwd = options.cwd === undefined ? undefined : resolveFolder(options.cwd);
    if (id !== undefined && cwd === undefined) await this.#refuseOtherHost(id);
    const prepare = createAgentPreparer(this.#sharedServices, options);
    const openOptions = {
      ...leaseOptionsOf(this.#context),
      host: this.#context.sharedHost,
      attended: options.attended ?? true,
      onReleased: (released: Session) => void this.#sessions.delete(released),
    };
    const changes = toNamedChanges({ agent, model, permissions, budget, taskBudget });
    const session =
      id === undefined
        ? await createSession(
            openOptions,
            { ...changes, title, task, child, conversation, cwd: cwd ?? resolveFolder(".") },
            prepare,
          )
        : await reopenSession(openOptions, id, { ...changes, cwd }, prepare);
    this.#sessions.add(session);
    if (this.#closed) {
      await session[Symbol.asyncDispose]();
      throw new RookeryError("store_closed", "Rookery was closed while the session was opening");
    }
    return session;
  }

  /** Checks the messages before anything starts. Rejects with `input_invalid`, `input_too_large` or `attachment_missing`. */
  async #readConversation({ messages, id, adopt }: OpenSessionOptions): Promise<Replacement | undefined> {
    if (messages === undefined) return undefined;
    if (id !== undefined || adopt !== undefined) {
      const fix = "call replaceConversation for an existing session";
      throw new RookeryError("input_invalid", `only a new session starts with messages: ${fix}`);
    }
    const conversation = toReplacementEvent(messages);
    await requireAttachments(this.#context.store, listConversationBlobs(conversation));
    return conversation.messages.length === 0 ? undefined : conversation;
  }

  /** Deletes the adopted session again if its agent cannot be opened. */
  async #openAdopted({ adopt: _, ...options }: OpenSessionOptions, name: NativeSessionName): Promise<Session> {
    const { agent, model, permissions, title, task, cwd, env } = options;
    const given = Object.entries({ agent, model, permissions, title, task, cwd, env });
    const adopted = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const id = await this.native.adopt({ ...adopted, ...name });
    try {
      return await this.open({ ...options, id });
    } catch (error) {
      await deleteStoredSession(leaseOptionsOf(this.#context), id).catch(() => undefined); // the first error is more useful
      throw error;
    }
  }

  /** Throws `other_host` if the working directory of the session is on another host. Worktrees of tasks may move. */
  async #refuseOtherHost(id: string): Promise<void> {
    const { store, sharedHost } = this.#context;
    const { host, cwd, task } = (sharedHost === undefined ? undefined : await store.summary(id)) ?? {};
    if (host === undefined || host === sharedHost || task !== undefined) return;
    throw new RookeryError(
      "other_host",
      `session ${id} works in ${cwd ?? ""} on host ${host}, not on this host (${sharedHost ?? ""}): continue it there, or choose a directory of this host with --cwd`,
    );
  }

  /** Ends a turn that a dead process left. With `turnId`, only this turn. Rejects like `settleStoredSession`. */
  async settle(id: string, turnId?: string): Promise<void> {
    await settleStoredSession({ ...leaseOptionsOf(this.#context), attended: false }, id, turnId);
  }

  /** Releases a session if it is open in this process. */
  async release(sessionId: string): Promise<void> {
    const open = [...this.#sessions].filter(({ id }) => id === sessionId);
    for (const session of open) await session[Symbol.asyncDispose]();
  }

  /** Makes every session that is being opened fail. */
  refuseNew(): void {
    this.#closed = true;
  }

  /** Closes all of them concurrently, so that a slow agent does not delay the others. */
  async close(): Promise<void> {
    const closings = await Promise.allSettled([...this.#sessions].map(closeWithParent));
    const failures = closings.flatMap((closing) => (closing.status === "rejected" ? [closing.reason as unknown] : []));
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, "several sessions failed to close");
  }

  get #sharedServices(): SharedServices {
    const { store, clock, env, plugins, backends, providers, claim, resolveFolder } = this.#context;
    return {
      env,
      plugins,
      backends,
      providers,
      resolveFolder,
      authorizer: this.#authorizer,
      claim,
      children: {
        store,
        open: (options) => this.open(options),
        settle: (id) => this.settle(id),
        answer: (sessionId, requestId, answer) => answerRequest(store, { sessionId, requestId, answer, clock }),
      },
    };
  }
}

/** A parked sub-agent is cancelled, because the call of its parent that waits for it is cancelled too. */
function closeWithParent(session: Session): Promise<void> {
  return session.close({ cancelParked: session.state.depth > 0 });
}
