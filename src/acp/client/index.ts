export type { SessionBuilder, SessionRequest, StartOptions } from "./session-builder.ts";
export { connectClient, type Client, type ClientOptions } from "./client.ts";
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
