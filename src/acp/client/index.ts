export type { SessionBuilder, SessionRequest, StartOptions } from "./builder.ts";
export { connectClient, type Client, type ClientOptions } from "./client.ts";
export type { Route } from "./dispatch.ts";
export {
  capabilitiesOf,
  type RequestContext,
  type SessionHandlers,
  type SessionOptions,
  type TerminalHandlers,
} from "./handlers.ts";
export type { RequestItem, SessionItem, StopItem, UpdateItem, When } from "./items.ts";
export type { ClientSession } from "./session.ts";
export type { ClientTurn } from "./turn.ts";
