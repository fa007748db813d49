/** Access control: checks the Host header, the Origin header and the credentials of every request. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { RookeryError } from "../../domain/index.ts";
import { isPagePath } from "./page/respond.ts";
import { isSignedIn } from "./page/sign-in.ts";
import { HttpRefusal } from "./problem.ts";
import { tokensEqual } from "./token.ts";

export interface AccessRules {
  readonly token: string;
  /** The address that the server listens on. */
  readonly host: string;
  /** Additional host names that clients may use. */
  readonly allowHosts: readonly string[];
  /** The origin that browsers see if a proxy is in front of the server, such as `https://rookery.example`. */
  readonly publicOrigin: string | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const READING_METHODS = ["GET", "HEAD"];
/** For load balancers. */
const OPEN_PATHS = ["/v1/health", "/v1/ready"];

/**
 * Returns whether the request carries the token or comes from a page that is signed in. Throws an `HttpRefusal` or
 * `unauthorized` if access is denied.
 */
export function checkAccess(request: IncomingMessage, path: string, rules: AccessRules): boolean {
  const host = refuseForeignHost(request, rules);
  refuseForeignOrigin(request, host, rules);
  if (hasCredentials(request, rules.token)) return true;
  if (isOpen(request, path)) return false;
  throw toMissingTokenError(request);
}

/** Whether the request has the token, or the cookie and the key of a page. Throws `unauthorized` for a wrong token. */
export function hasCredentials(request: IncomingMessage, token: string): boolean {
  if (carriesToken(request, token)) return true;
  if (!isSignedIn(request, { token, port: request.socket.localPort ?? 0 })) return false;
  if (!READING_METHODS.includes(request.method ?? "")) refuseUnknownOrigin(request);
  return true;
}

/** Requests that reveal nothing and need no credentials. */
function isOpen({ method = "" }: IncomingMessage, path: string): boolean {
  return OPEN_PATHS.includes(path) || (READING_METHODS.includes(method) && isPagePath(path));
}

/** False if the request has no Authorization header. Throws `unauthorized` if it has a wrong token. */
export function carriesToken({ headers }: IncomingMessage, token: string): boolean {
  const { authorization } = headers;
  if (authorization === undefined) return false;
  const sent = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (sent !== undefined && tokensEqual(sent, token)) return true;
  throw new RookeryError(
    "unauthorized",
    "the token is wrong: use the one in the file `token` in the server's home directory",
  );
}

function toMissingTokenError({ url = "" }: IncomingMessage): RookeryError {
  const misplaced = /[?&](?:access_)?token=/.test(url)
    ? "; a token in the URL is ignored, because URLs end up in logs"
    : "";
  return new RookeryError(
    "unauthorized",
    `the request has no token: send the header Authorization: Bearer TOKEN, or sign in to the page with rookery open${misplaced}`,
  );
}

/** Prevents DNS rebinding: another site can point its name to this address, but it cannot use this server's names. */
function refuseForeignHost(request: IncomingMessage, { host: bound, allowHosts }: AccessRules): string {
  const hosts = request.headersDistinct.host ?? [];
  const [host] = hosts;
  if (host === undefined || hosts.length > 1)
    throw new HttpRefusal("malformed", "the request has no Host header or several: send exactly one");
  const name = parseHostName(host);
  if (name === undefined) throw new HttpRefusal("malformed", "the Host header is invalid: send HOST or HOST:PORT");
  if (
    LOOPBACK.includes(name) ||
    name === toUrlHost(bound) ||
    allowHosts.some((other) => parseHostName(toUrlHost(other)) === name)
  )
    return host;
  if (isWildcardAddress(bound) && name === toUrlHost(localAddress(request))) return host;
  throw new HttpRefusal(
    "forbidden",
    `this server does not accept requests for the host ${name}: start it with --allow-host ${name}`,
  );
}

function refuseForeignOrigin(
  { headers: { origin } }: IncomingMessage,
  host: string,
  { publicOrigin }: Pick<AccessRules, "publicOrigin">,
): void {
  if (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}` || origin === publicOrigin)
    return;
  throw new HttpRefusal(
    "forbidden",
    "the request comes from a page of another site: only pages of this server may call it",
  );
}

/** A browser adds these headers to every request that changes something, and pages cannot set them. */
function refuseUnknownOrigin({ headers }: IncomingMessage): void {
  if (headers.origin !== undefined || headers["sec-fetch-site"] === "same-origin") return; // a foreign one was refused
  throw new HttpRefusal(
    "forbidden",
    "the request does not say which page it comes from: only pages of this server may call it",
  );
}

/** The host name without the port. Undefined if the header is invalid. */
function parseHostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, "");
}

function isWildcardAddress(bound: string): boolean {
  return bound === "0.0.0.0" || bound === "::";
}

function localAddress({ socket }: IncomingMessage): string {
  return (socket.localAddress ?? "").replace(/^::ffff:/, "");
}

/** The host as URLs and Host headers write it: IPv6 addresses in brackets. */
export function toUrlHost(host: string): string {
  return (isIP(host) === 6 ? `[${host}]` : host).toLowerCase();
}
