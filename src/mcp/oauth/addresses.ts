/** Decides which addresses a login may use. Addresses from a server are validated before use. */
import { BlockList } from "node:net";
import { LoginFailure } from "./failure.ts";

const LOOPBACK = makeBlockList(["127.0.0.0", 8, "ipv4"], ["::1", 128, "ipv6"]);
const PRIVATE = makeBlockList(
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
);

/** Normalizes a server URL, so that one server has one spelling. */
export function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = url.username = url.password = "";
  return url.href;
}

/**
 * Checks an address from the login flow. Codes and tokens must be encrypted unless they stay on this machine. A remote
 * server must not point at loopback or private addresses; only a server with such an address may. Throws
 * `LoginFailure`.
 */
export function checkEndpoint(text: string | URL, what: string, server: string): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined;
  if (url === undefined) throw new LoginFailure(`${what} is not a URL: ${quoteShort(text)}`);
  if (!/^https?:$/.test(url.protocol)) throw new LoginFailure(`${what} must use https or http: ${quoteShort(text)}`);
  if (url.protocol === "http:" && !isLoopback(url))
    throw new LoginFailure(`${what} uses plain http to another machine: ${quoteShort(text)}`);
  if (isLoopback(url) && !isLoopback(new URL(server)))
    throw new LoginFailure(`${what} is on this machine, but the server is not: ${quoteShort(text)}`);
  if (isPrivate(url) && !isPrivate(new URL(server)))
    throw new LoginFailure(`${what} is in a private network, but the server is not: ${quoteShort(text)}`);
  return url;
}

/** Ignores one trailing slash, because the URL of an origin has one and people often omit it. */
export function isSameIssuer(a: string, b: string): boolean {
  return stripTrailingSlash(a) === stripTrailingSlash(b);
}

export function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && new URL(a).origin === new URL(b).origin;
}

function isLoopback({ hostname }: URL): boolean {
  return /(^|\.)localhost$/.test(hostname) || LOOPBACK.check(...toSocketAddress(hostname));
}

/** Checks literal addresses only. A host name that resolves to a private address must present a valid certificate. */
function isPrivate(url: URL): boolean {
  return isLoopback(url) || PRIVATE.check(...toSocketAddress(url.hostname));
}

/** Expects the normalized form that `URL` produces. */
function toSocketAddress(hostname: string): [string, "ipv4" | "ipv6"] {
  return hostname.startsWith("[") ? [hostname.slice(1, -1), "ipv6"] : [hostname, "ipv4"];
}

/** The list also covers IPv4-mapped IPv6 addresses. */
function makeBlockList(...subnets: readonly (readonly [string, number, "ipv4" | "ipv6"])[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

function stripTrailingSlash(text: string): string {
  return (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
}

/** Quotes text from a server, shortened for a status line. */
export function quoteShort(text: string | URL): string {
  return JSON.stringify(String(text).slice(0, 200));
}
