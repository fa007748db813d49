export { SessionBuilder } from "./builder.ts";
export { Client, connectClient, type ClientOptions, type Route } from "./client.ts";
export { capabilitiesOf, type RequestContext, type SessionHandlers, type TerminalHandlers } from "./handlers.ts";
export type { RequestItem, SessionItem, StopItem, UpdateItem, When } from "./items.ts";
export { ClientSession, type SessionOptions } from "./session.ts";
export type { ClientTurn } from "./turn.ts";
