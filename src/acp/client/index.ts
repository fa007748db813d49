/**
 * The client role of ACP. Read in this order:
 *
 * - `client.ts`: connects to an agent, initializes it, starts sessions.
 * - `session-builder.ts`, `session-setup.ts`, `attach.ts`: create, load, resume or fork a session, or attach to one.
 * - `session.ts`: one session, one prompt at a time; the files below are its parts.
 * - `session-handlers.ts`, `session-items.ts`: what users implement and what they read.
 * - `agent-features.ts`, `mcp-offers.ts`: the agent's optional features, and the MCP servers of a session.
 * - `routing/`: from a message on the connection to the session, handler or reader that gets it.
 * - `turn/`: one prompt: its public iterator, its state, and the filter for late updates of cancelled turns.
 * - `buffer/`: bounded queues between the connection and slow readers, and the backpressure on the agent.
 */
export type { SessionBuilder, SessionRequest, StartOptions } from "./session-builder.ts";
export type { AttachOptions } from "./attach.ts";
export { connectClient, type Client, type AcpClientOptions as ClientOptions } from "./client.ts";
export type { Route } from "./routing/dispatcher.ts";
export {
  capabilitiesOf,
  type RequestContext,
  type SessionHandlers,
  type SessionOptions,
  type TerminalHandlers,
} from "./session-handlers.ts";
export type { RequestItem, SessionItem, StopItem, UpdateItem, When } from "./session-items.ts";
export type { ClientSession } from "./session.ts";
export type { ClientTurn } from "./turn/client-turn.ts";
