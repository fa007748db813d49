/** One of the two sides of a proxy: its own connection, or a part of the connection to its conductor. */
import type { Connection, RequestOptions } from "../connection/connection.ts";
import type { Verbatim } from "../connection/incoming.ts";
import { wrapMessage, type PassedMessage } from "./passed-message.ts";

export interface Port {
  readonly peer: string;
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result>;
  notify(method: string, params?: unknown): Promise<void>;
  /** Sends another peer's request under an id of this hop. */
  forward(message: PassedMessage, options?: RequestOptions): Promise<Verbatim>;
  /** Sends another peer's notification. Returns undefined while there is room. Throws if it cannot be sent. */
  passOn(message: PassedMessage): Promise<void> | undefined;
}

export function directPort(connection: Connection): Port {
  return {
    peer: connection.peer,
    request: (method, params, options) => connection.request(method, params, options),
    notify: (method, params) => connection.notify(method, params),
    forward: ({ line, method }, options) => connection.forward(line, method, options),
    passOn: ({ line }) => connection.passOn(line),
  };
}

/** The component behind the conductor: messages to it are wrapped as the dialect requires. */
export function successorPort(connection: Connection, envelope: () => string): Port {
  const wrapped = (method: string, params: unknown) => ({ method, ...(params !== undefined && { params }) });
  return {
    peer: "the successor",
    request: (method, params, options) => connection.request(envelope(), wrapped(method, params), options),
    notify: (method, params) => connection.notify(envelope(), wrapped(method, params)),
    forward: (message, options) => connection.forward(wrapMessage(message, envelope(), true), message.method, options),
    passOn: (message) => connection.passOn(wrapMessage(message, envelope(), false)),
  };
}
