/** Opens a session for driving: a new one, or one that is in the log already, whoever left it there. */
import {
  MAX_PAGE,
  RookeryError,
  applyAll,
  emptyState,
  isRookeryError,
  newId,
  type AgentConnection,
  type PermissionPolicy,
  type SessionState,
  type SessionStore,
} from "../domain/index.ts";
import { DisposeStack, type Clock } from "../stdx/index.ts";
import { appendFromOutside, sessionNotFound } from "./answer.ts";
import { keepLease, takeLease } from "./lease.ts";
import { pagesOf } from "./pages.ts";
import { Recorder } from "./recorder.ts";
import { Session } from "./session.ts";
import { endTurn } from "./turn.ts";

export interface OpenOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Who holds the lease: the process, as its children know it. */
  readonly owner: string;
  /** Can anyone be asked for a permission? */
  readonly attended: boolean;
  readonly onReleased?: ((session: Session) => void) | undefined;
}

export interface NewSession {
  readonly agent: string;
  readonly backend: string;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly permissions: PermissionPolicy;
  readonly title: string | undefined;
}

/** What a reopener wants otherwise than it was; recorded, since the log is what a session is. */
export interface Changes {
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
}

export type Connect = (state: SessionState) => Promise<AgentConnection>;

export async function createSession(options: OpenOptions, made: NewSession, connect: Connect): Promise<Session> {
  const { store, clock } = options;
  const sessionId = newId("ses", clock.now());
  await using opening = new DisposeStack();
  const connection = opening.use(await connect({ ...emptyState(sessionId), ...made }));
  const { agent, backend, model, cwd, permissions, title } = made;
  const body = { type: "session.opened" as const, backend, model, cwd, permissions, title };
  const at = new Date(clock.now()).toISOString();
  await store.append({ sessionId, id: newId("app", clock.now()), expectedHead: 0, events: [{ ...body, at, agent }] });
  return await live(options, opening, sessionId, () => Promise.resolve(connection), { shownFrom: 0 });
}

/** Ends or goes on with a turn that a dead process left. Rejects with `session_not_found`, `session_in_use` or `session_closed`. */
export async function reopenSession(
  options: OpenOptions,
  sessionId: string,
  changes: Changes,
  connect: Connect,
): Promise<Session> {
  await using opening = new DisposeStack();
  return await live(options, opening, sessionId, async (state) => opening.use(await connect(state)), { changes });
}

/** Ends the conversation, also one that another process drives, and the turn that a dead process left in it. */
export async function closeStored(options: OpenOptions, sessionId: string, reason?: string): Promise<void> {
  const closing = { type: "session.closed" as const, ...(reason !== undefined && { reason }) };
  await using opening = new DisposeStack();
  const recorder = await takePen(options, opening, sessionId).catch(async (error: unknown) => {
    if (!isRookeryError(error, "session_in_use")) throw error;
    await appendFromOutside(options.store, sessionId, options.clock, ({ status }) =>
      Promise.resolve(status === "closed" ? undefined : { body: closing, turnId: undefined }),
    ); // its driver finds it and stops
  });
  if (recorder === undefined) return;
  const { turn, closed } = recorder.state;
  if (turn !== undefined) await endTurn(recorder, turn.id, { status: "cancelled" }, { deserted: true });
  if (closed) return;
  recorder.record([closing]);
  await recorder.commit();
}

async function live(
  options: OpenOptions,
  opening: DisposeStack,
  sessionId: string,
  connect: Connect,
  { shownFrom, changes = {} }: { shownFrom?: number; changes?: Changes },
): Promise<Session> {
  const { store, clock, attended } = options;
  const recorder = await takePen(options, opening, sessionId);
  if (recorder.state.closed) {
    if (recorder.state.turn !== undefined)
      await endTurn(recorder, recorder.state.turn.id, { status: "cancelled" }, { deserted: true });
    throw new RookeryError("session_closed", `session ${sessionId} was closed: start a new one with \`rookery run\``);
  }
  const shownThrough = shownFrom ?? recorder.state.head;
  const wanted = changed(recorder.state, changes);
  const connection = await connect(wanted);
  if (wanted !== recorder.state) {
    const { backend, model, cwd, permissions } = wanted;
    recorder.record([{ type: "session.opened", reopened: true, backend, model, cwd, permissions }]);
    await recorder.commit();
  }
  const left = recorder.state.turn;
  if (left !== undefined && !connection.resumesTurns) {
    const message = "the process that ran this turn ended before the turn did";
    await endTurn(recorder, left.id, { status: "failed", code: "interrupted", message }, { deserted: true });
  }
  const { onReleased } = options;
  return new Session({ store, recorder, connection, attended, clock, shownThrough, onReleased, owned: opening.move() });
}

/** The same object where nothing is to be changed. */
function changed(state: SessionState, { model, cwd, permissions }: Changes): SessionState {
  const next = {
    ...state,
    model: model ?? state.model,
    cwd: cwd ?? state.cwd,
    permissions: permissions ?? state.permissions,
  };
  const same = next.model === state.model && next.cwd === state.cwd && next.permissions === state.permissions;
  return same ? state : next;
}

/** The lease first, the state after it: what is read then is what the last holder left. */
async function takePen(
  { store, clock, owner }: OpenOptions,
  opening: DisposeStack,
  sessionId: string,
): Promise<Recorder> {
  const summary = await store.summary(sessionId);
  if (summary === undefined || summary.status === "copying") throw sessionNotFound(sessionId);
  const lease = await takeLease({ store, sessionId, owner, clock });
  const state = await loadState(store, sessionId).catch(async (error: unknown) => {
    await store.releaseLease(lease);
    throw error;
  });
  const recorder = new Recorder({ store, state, fence: lease.generation, clock });
  opening.use(keepLease({ store, sessionId, owner, clock }, lease, (error) => recorder.break(error)));
  return recorder;
}

/** The fold of the whole log. Rejects with `session_not_found`. */
export async function loadState(store: SessionStore, sessionId: string): Promise<SessionState> {
  let state = emptyState(sessionId);
  for await (const page of pagesOf(store, sessionId, { limit: MAX_PAGE })) state = applyAll(state, page);
  return state;
}
