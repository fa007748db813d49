/** Which addresses a login may go to: what a server says of itself and of others is not believed without a look. */
import { BlockList } from "node:net";
import { LoginFailure } from "./failure.ts";

const LOOPBACK = blocks(["127.0.0.0", 8, "ipv4"], ["::1", 128, "ipv6"]);
const PRIVATE = blocks(
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

/** The server as a resource: one spelling for one server. */
export function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = url.username = url.password = "";
  return url.href;
}

/**
 * Codes and tokens travel encrypted, or do not leave this machine. A server that is elsewhere has no business with what
 * listens here or in a network that it is not in: addresses of those are for servers that have such an address too.
 */
export function checkedEndpoint(text: string | URL, what: string, server: string): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined;
  if (url === undefined) throw new LoginFailure(`${what} is not a URL: ${shown(text)}`);
  if (!/^https?:$/.test(url.protocol)) throw new LoginFailure(`${what} is neither https nor http: ${shown(text)}`);
  if (url.protocol === "http:" && !isLoopback(url))
    throw new LoginFailure(`${what} is plain http on another machine: ${shown(text)}`);
  if (isLoopback(url) && !isLoopback(new URL(server)))
    throw new LoginFailure(`${what} is on this machine, although the server is not: ${shown(text)}`);
  if (isPrivate(url) && !isPrivate(new URL(server)))
    throw new LoginFailure(`${what} is in a private network, although the server is not: ${shown(text)}`);
  return url;
}

/** One slash at the end makes no other issuer: the URL of an origin has it, and what people write often has not. */
export function isSameIssuer(a: string, b: string): boolean {
  return withoutSlash(a) === withoutSlash(b);
}

export function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && new URL(a).origin === new URL(b).origin;
}

function isLoopback({ hostname }: URL): boolean {
  return /(^|\.)localhost$/.test(hostname) || LOOPBACK.check(...address(hostname));
}

/** By its number: a name that resolves to such an address is what its owner's certificate says it is. */
function isPrivate(url: URL): boolean {
  return isLoopback(url) || PRIVATE.check(...address(url.hostname));
}

/** As a URL has it, which knows one spelling of each. */
function address(hostname: string): [string, "ipv4" | "ipv6"] {
  return hostname.startsWith("[") ? [hostname.slice(1, -1), "ipv6"] : [hostname, "ipv4"];
}

/** IPv4 addresses that are written as IPv6 ones count too. */
function blocks(...subnets: readonly (readonly [string, number, "ipv4" | "ipv6"])[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

function withoutSlash(text: string): string {
  return (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
}

/** What a stranger wrote, short enough for a status line. */
export function shown(text: string | URL): string {
  return JSON.stringify(String(text).slice(0, 200));
}
