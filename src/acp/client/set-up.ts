/** Starts a session on the agent's side; what arrives for it goes to it from the first message on. */
import { RookeryError } from "../../domain/errors.ts";
import type { Connection } from "../connection/connection.ts";
import type { IncomingNotification, Verbatim } from "../connection/incoming.ts";
import { notFound, PeerError } from "../errors.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Flow } from "./flow.ts";
import { sessionIdOf } from "./params.ts";
import type { SessionRoutes } from "./routes.ts";
import { ClientSession, type SessionOptions } from "./session.ts";

export type SetUpMethod = "session/new" | "session/load" | "session/resume" | "session/fork";

export interface SetUp {
  readonly method: SetUpMethod;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: SessionOptions;
  /** Where the agent does not choose it. */
  readonly sessionId: string | undefined;
  readonly leave: (session: ClientSession) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface SetUpHost {
  readonly connection: Connection;
  readonly routes: SessionRoutes;
  readonly flow: Flow;
  readonly arrivals: Arrivals;
  /** Whether the agent takes `session/close`. */
  readonly closes: boolean;
  readonly stray: (notification: IncomingNotification) => void;
}

/** Rejects as soon as the signal fires; a session that the agent starts all the same is given back to it. */
export async function setUp(host: SetUpHost, wanted: SetUp): Promise<ClientSession> {
  const { routes, connection, flow, arrivals, closes } = host;
  const { method, options, sessionId, leave, signal } = wanted;
  signal?.throwIfAborted();
  const open = (id: string): ClientSession =>
    new ClientSession({ connection, id, options, flow, arrivals, closes, leave });
  const session = await unlessAborted(
    signal,
    sessionId === undefined
      ? routes.settingUp(
          open,
          async (named) => {
            signal?.throwIfAborted(); // it may have waited for others
            return send(host, wanted, {}, (response) => named(sessionIdIn(response, method)));
          },
          (early) => giveUp(early, host),
        )
      : startKnown(host, wanted, open, sessionId),
  );
  try {
    await session.handled();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/** The id in the agent's answer. Throws `PeerError`, or what is wrong with the answer. */
export function sessionIdIn({ result, error }: Verbatim, method: SetUpMethod): string {
  if (error !== undefined) throw new PeerError(error);
  const id = sessionIdOf(result);
  if (id !== undefined && id !== "") return id;
  throw new RookeryError("agent_failed", `the agent answered ${method} without a session id`);
}

/** Rejects with the signal's reason when it fires, whatever becomes of the work. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (abort !== undefined) signal.removeEventListener("abort", abort);
  }
}

async function startKnown(
  host: SetUpHost,
  wanted: SetUp,
  open: (id: string) => ClientSession,
  sessionId: string,
): Promise<ClientSession> {
  const { routes } = host;
  if (routes.has(sessionId)) {
    throw new RookeryError("session_in_use", `session ${sessionId} is open on this connection already`);
  }
  const session = open(sessionId);
  if (wanted.method === "session/load") session.loading();
  routes.add(session);
  try {
    return await send(host, wanted, session, () => session);
  } catch (error) {
    routes.remove(session);
    throw error;
  }
}

/** `named` is called in wire order, so that nothing that follows the response misses the session. */
async function send(
  { connection, flow, routes, closes }: SetUpHost,
  { method, params, signal, sessionId }: SetUp,
  owner: object,
  named: (response: Verbatim) => ClientSession,
): Promise<ClientSession> {
  let outcome: { readonly session: ClientSession } | { readonly failed: unknown } | undefined;
  const onResponse = (response: Verbatim): void => {
    if (signal?.aborted === true) return giveBack(response);
    try {
      const session = named(response);
      session.started(response);
      outcome = { session };
    } catch (failed) {
      outcome = { failed };
    }
  };
  const giveBack = ({ result, error }: Verbatim): void => {
    const id = sessionId ?? sessionIdOf(result);
    if (id === undefined || error !== undefined) return;
    routes.forget(id);
    if (closes) connection.request("session/close", { sessionId: id }).catch(() => undefined); // nobody waits for it
  };
  const apart = flow.isHeld;
  const end = flow.begin(owner);
  try {
    await unlessAborted(signal, connection.request(method, params, { signal, onResponse, apart }));
  } finally {
    end();
  }
  if (outcome !== undefined && "session" in outcome) return outcome.session;
  throw outcome?.failed;
}

/** It was not the session after all. */
function giveUp(early: ClientSession, { stray }: SetUpHost): void {
  for (const item of early.take()) {
    if (item.kind === "update") stray({ method: "session/update", params: item.notification, line: item.line });
    if (item.kind === "request") item.fail(notFound(`session ${early.id}`));
  }
}
