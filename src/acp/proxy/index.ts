/** The proxy role of ACP: sits between a client and an agent, alone or in a conductor's chain. */
export type { ProxyDialect } from "./proxy-dialect.ts";
export type { HeldSession } from "./held-sessions.ts";
export type { LinkOptions } from "./proxy-link.ts";
export type { Port } from "./port.ts";
export {
  openProxy,
  openProxyComponent,
  Proxy,
  type ClientRequest,
  type ClientRequestHandler,
  type ProxyOptions,
} from "./proxy.ts";
export type { ProxiedRequest, ProxyHandler } from "./relay.ts";
