/** The connections of a proxy: two, or one to a conductor that carries both sides. */
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, type ConnectionOptions } from "../connection/connection.ts";
import type { ConnectionHandlers } from "../connection/incoming.ts";
import { peerError, RPC } from "../errors.ts";
import { PROXY_DIALECTS, getProxyDialect, type ProxyDialect } from "./proxy-dialect.ts";
import { classifyLazily } from "../wire/message.ts";
import { unwrapMessage, unwrapRequest, withMethod } from "./passed-message.ts";
import { directPort, successorPort, type Port } from "./port.ts";

export interface ProxyLinkHandlers {
  readonly fromClient: ConnectionHandlers;
  readonly fromAgent: ConnectionHandlers;
}

export interface ProxyLink {
  readonly client: Port;
  readonly agent: Port;
  /** Resolves with the reason when the agent can send nothing more. */
  readonly agentGone: Promise<Error>;
  /** Resolves when both sides are closed. */
  readonly closed: Promise<void>;
  close(cause?: unknown): Promise<void>;
}

export type LinkOptions = Omit<ConnectionOptions, "handlers" | "malformed">;

/** How long handlers may take to answer open requests after the agent is gone. */
const LAST_ANSWERS_MS = 2_000;

/** The client on one transport, the agent on another. */
export function directLink(client: LinkOptions, agent: LinkOptions, handlers: ProxyLinkHandlers): ProxyLink {
  const up = new Connection({ peer: "the client", ...client, malformed: "answer", handlers: handlers.fromClient });
  const down = new Connection({ peer: "the agent", ...agent, read: classifyLazily, handlers: handlers.fromAgent });
  const agentGone = waitUntilGone(down);
  void agentGone.then(async (error) => {
    await down.close(); // its open requests are no longer needed
    await Promise.race([up.idle(), sleep(LAST_ANSWERS_MS, undefined, { ref: false })]);
    await up.close(error);
  });
  void up.closed.then(() => down.close());
  return {
    client: directPort(up),
    agent: directPort(down),
    agentGone,
    closed: Promise.all([up.closed, down.closed]).then(() => undefined),
    async close(cause) {
      await Promise.all([up.close(cause), down.close(cause)]);
    },
  };
}

async function waitUntilGone(connection: Connection): Promise<Error> {
  await connection.inputEnded;
  return connection.over ?? new Error(`${connection.peer} is gone`);
}

/** One connection to a conductor: messages in an envelope come from the successor, all others from the client. */
export function componentLink(
  conductor: LinkOptions,
  handlers: ProxyLinkHandlers,
  dialect: ProxyDialect = "official",
): ProxyLink {
  let currentDialect = dialect;
  const connection = new Connection({
    peer: "the conductor",
    ...conductor,
    malformed: "answer",
    handlers: {
      ...handlers.fromClient,
      request: (request) => {
        const found = getProxyDialect(request.method);
        if (request.method === "initialize") throw noAgent();
        if (found === undefined) return handlers.fromClient.request?.(request);
        currentDialect = found; // answers use the dialect of the caller
        if (request.method === PROXY_DIALECTS[found].initialize) {
          return handlers.fromClient.request?.(withMethod(request, "initialize"));
        }
        return handlers.fromAgent.request?.(unwrapRequest(request));
      },
      notification: (notification) => {
        if (getProxyDialect(notification.method) === undefined) return handlers.fromClient.notification?.(notification);
        const inner = unwrapMessage(notification);
        return inner === undefined ? undefined : handlers.fromAgent.notification?.(inner);
      },
    },
  });
  return {
    client: directPort(connection),
    agent: successorPort(connection, () => PROXY_DIALECTS[currentDialect].successor),
    agentGone: waitUntilGone(connection),
    closed: connection.closed,
    close: (cause) => connection.close(cause),
  };
}

function noAgent(): Error {
  return peerError(RPC.invalidRequest, "this is a proxy, not an agent: initialize it with proxy/initialize");
}
