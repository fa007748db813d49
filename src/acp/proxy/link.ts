/** What a proxy stands on: two connections, or one to a conductor that carries both sides. */
import { Connection, type ConnectionOptions } from "../connection/connection.ts";
import type { ConnectionHandlers } from "../connection/incoming.ts";
import { peerError, RPC } from "../errors.ts";
import { DIALECTS, dialectOf, type ProxyDialect } from "./dialect.ts";
import { unwrapped, unwrappedRequest, withMethod } from "./message.ts";
import { directPort, successorPort, type Port } from "./port.ts";

export interface LinkHandlers {
  readonly fromClient: ConnectionHandlers;
  readonly fromAgent: ConnectionHandlers;
}

export interface ProxyLink {
  readonly client: Port;
  readonly agent: Port;
  /** Resolves when the client is gone, or the agent with no client to tell. */
  readonly closed: Promise<void>;
  close(cause?: unknown): Promise<void>;
}

export type LinkOptions = Omit<ConnectionOptions, "handlers" | "malformed">;

/** The client on one transport, the agent on another. */
export function directLink(client: LinkOptions, agent: LinkOptions, handlers: LinkHandlers): ProxyLink {
  const up = new Connection({ peer: "the client", ...client, malformed: "answer", handlers: handlers.fromClient });
  const down = new Connection({ peer: "the agent", ...agent, handlers: handlers.fromAgent });
  const close = async (cause?: unknown): Promise<void> => {
    await Promise.all([up.close(cause), down.close(cause)]);
  };
  // Who is left is closed when all that came before has been passed on and answered.
  void down.closed.then(() => up.close());
  void up.closed.then(() => down.close());
  return {
    client: directPort(up),
    agent: directPort(down),
    closed: Promise.all([up.closed, down.closed]).then(() => undefined),
    close,
  };
}

/** A component of a conductor's chain: what is in an envelope is the successor's, everything else the client's. */
export function componentLink(
  conductor: LinkOptions,
  handlers: LinkHandlers,
  dialect: ProxyDialect = "official",
): ProxyLink {
  let spoken = dialect;
  const connection = new Connection({
    peer: "the conductor",
    ...conductor,
    malformed: "answer",
    handlers: {
      ...handlers.fromClient,
      request: (request) => {
        const found = dialectOf(request.method);
        if (request.method === "initialize") throw noAgent();
        if (found === undefined) return handlers.fromClient.request?.(request);
        spoken = found; // one who speaks to us is answered in his own dialect
        if (request.method === DIALECTS[found].initialize) {
          return handlers.fromClient.request?.(withMethod(request, "initialize"));
        }
        return handlers.fromAgent.request?.(unwrappedRequest(request));
      },
      notification: (notification) => {
        if (dialectOf(notification.method) === undefined) return handlers.fromClient.notification?.(notification);
        const inner = unwrapped(notification);
        return inner === undefined ? undefined : handlers.fromAgent.notification?.(inner);
      },
    },
  });
  return {
    client: directPort(connection),
    agent: successorPort(connection, () => DIALECTS[spoken].successor),
    closed: connection.closed,
    close: (cause) => connection.close(cause),
  };
}

function noAgent(): Error {
  return peerError(
    RPC.invalidRequest,
    "this is a proxy in the place of an agent: it is initialized with proxy/initialize",
  );
}
