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
