/** Starts a session on the agent's side. From the first message on, everything for the session is routed to it. */
import { RookeryError } from "../../domain/errors.ts";
import { raceAbort } from "../../stdx/index.ts";
import type { Verbatim } from "../connection/incoming.ts";
import { PeerError } from "../errors.ts";
import type { ArrivalLog } from "./routing/arrival-log.ts";
import type { Backpressure } from "./buffer/backpressure.ts";
import { getSessionId } from "./routing/request-params.ts";
import type { SessionRoutes } from "./routing/session-routes.ts";
import { sessionInUse } from "./attach.ts";
import { ClientSession, type SessionLink, type SessionOptions } from "./session.ts";

export type SessionSetupMethod = "session/new" | "session/load" | "session/resume" | "session/fork";

export interface SessionSetup {
  readonly method: SessionSetupMethod;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: SessionOptions;
  /** Undefined if the agent chooses it. */
  readonly sessionId: string | undefined;
  readonly leave: (session: ClientSession) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface SessionSetupHost {
  readonly connection: SessionLink;
  readonly routes: SessionRoutes;
  readonly backpressure: Backpressure;
  readonly arrivals?: ArrivalLog | undefined;
  /** Keeps unread items for a reader that must not make the agent wait. Default: false. */
  readonly keepsUnread?: boolean | undefined;
  /** Whether the agent supports `session/close`. */
  readonly closes: boolean;
}

/** Rejects as soon as the signal fires. A session that the agent still creates is closed again. */
export async function setUpSession(host: SessionSetupHost, setup: SessionSetup): Promise<ClientSession> {
  const { routes, connection, backpressure, arrivals, closes, keepsUnread } = host;
  const { method, options, sessionId, leave, signal } = setup;
  signal?.throwIfAborted();
  const open = (id: string): ClientSession =>
    new ClientSession({ connection, id, options, backpressure, arrivals, closes, keepsUnread, leave });
  const session = await raceAbort(
    sessionId === undefined
      ? routes.runSetup({
          options,
          run: async (named) => {
            signal?.throwIfAborted(); // it may have waited for other setups
            return sendSetup(host, setup, {}, (response) => {
              const id = requireSessionId(response, method);
              return named(id, () => open(id));
            });
          },
        })
      : startKnownSession(host, setup, open, sessionId),
    signal,
  );
  try {
    await session.waitUntilHandled();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Returns the id in the agent's answer. Throws `PeerError` if the answer is an error, and `agent_failed` if it has no
 * id.
 */
export function requireSessionId({ result, error }: Verbatim, method: SessionSetupMethod): string {
  if (error !== undefined) throw new PeerError(error);
  const id = getSessionId(result);
  if (id !== undefined && id !== "") return id;
  throw new RookeryError("agent_failed", `the agent answered ${method} without a session id`);
}

async function startKnownSession(
  host: SessionSetupHost,
  setup: SessionSetup,
  open: (id: string) => ClientSession,
  sessionId: string,
): Promise<ClientSession> {
  const { routes } = host;
  if (routes.has(sessionId)) throw sessionInUse(sessionId);
  const session = open(sessionId);
  if (setup.method === "session/load") session.startLoading();
  routes.add(session);
  try {
    return await sendSetup(host, setup, session, () => session);
  } catch (error) {
    routes.remove(session);
    throw error;
  }
}

/** Calls `named` in wire order, so that the session misses nothing that follows the response. */
async function sendSetup(
  { connection, backpressure, routes, closes }: SessionSetupHost,
  { method, params, signal, sessionId }: SessionSetup,
  owner: object,
  named: (response: Verbatim) => ClientSession,
): Promise<ClientSession> {
  let outcome: { readonly session: ClientSession } | { readonly failed: unknown } | undefined;
  const onResponse = (response: Verbatim): void => {
    if (signal?.aborted === true) return giveBack(response);
    try {
      const session = named(response);
      session.recordSetup(response);
      outcome = { session };
    } catch (failed) {
      outcome = { failed };
    }
  };
  const giveBack = ({ result, error }: Verbatim): void => {
    const id = sessionId ?? getSessionId(result);
    if (id === undefined || error !== undefined) return;
    routes.forget(id);
    if (closes) connection.request("session/close", { sessionId: id }).catch(() => undefined); // nobody waits for it
  };
  const apart = backpressure.isHeld;
  const end = backpressure.startWait(owner);
  try {
    await raceAbort(connection.request(method, params, { signal, onResponse, apart }), signal);
  } finally {
    end();
  }
  if (outcome !== undefined && "session" in outcome) return outcome.session;
  throw outcome?.failed;
}
