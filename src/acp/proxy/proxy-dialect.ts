/** The two dialects of the proxy protocol: the official draft, and the Rust SDK with underscores. */

export type ProxyDialect = "official" | "rust";

export interface ProxyMethods {
  readonly initialize: string;
  readonly successor: string;
}

export const PROXY_DIALECTS: Readonly<Record<ProxyDialect, ProxyMethods>> = {
  official: { initialize: "proxy/initialize", successor: "proxy/successor" },
  rust: { initialize: "_proxy/initialize", successor: "_proxy/successor" },
};

/** The dialect of a method of the proxy protocol. Undefined for any other method. */
export function getProxyDialect(method: string): ProxyDialect | undefined {
  const name = method.startsWith("_") ? method.slice(1) : method;
  if (name !== "proxy/initialize" && name !== "proxy/successor") return undefined;
  return method.startsWith("_") ? "rust" : "official";
}

export function isProxyInitialize(method: string): boolean {
  return method === PROXY_DIALECTS.official.initialize || method === PROXY_DIALECTS.rust.initialize;
}
