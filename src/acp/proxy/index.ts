/** The proxy role of ACP: sits between a client and an agent, alone or in a conductor's chain. */
export type { ProxyDialect } from "./proxy-dialect.ts";
export type { HeldSession } from "./held-sessions.ts";
export type { LinkOptions } from "./proxy-link.ts";
export type { Port } from "./port.ts";
export type { NotificationHandler, NotificationVerdict, ProxiedNotification } from "./notification-handler.ts";
export { openProxy, openProxyComponent, Proxy } from "./proxy.ts";
export type { ClientRequest, ClientRequestHandler, ProxyOptions, SessionChanges } from "./proxy-options.ts";
export type { ProxiedRequest, ProxyHandler } from "./relay.ts";
