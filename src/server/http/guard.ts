/** Access control: checks the Host header, the Origin header and the bearer token of every request. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { RookeryError } from "../../domain/index.ts";
import { HttpRefusal } from "./problem.ts";
import { tokensEqual } from "./token.ts";

export interface AccessRules {
  readonly token: string;
  /** The address that the server listens on. */
  readonly host: string;
  /** Additional host names that clients may use. */
  readonly allowHosts: readonly string[];
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
/** Paths that reveal nothing and need no token. */
const OPEN_PATHS = ["/", "/v1/health"];

/** Returns whether the request carries the token. Throws an `HttpRefusal` or `unauthorized` if access is denied. */
export function checkAccess(request: IncomingMessage, path: string, rules: AccessRules): boolean {
  const host = refuseForeignHost(request, rules);
  refuseForeignOrigin(request, host);
  const hasToken = carriesToken(request, rules.token);
  if (!hasToken && !OPEN_PATHS.includes(path)) throw toMissingTokenError(request);
  return hasToken;
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
    `the request has no token: send the header Authorization: Bearer TOKEN${misplaced}`,
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

function refuseForeignOrigin({ headers: { origin } }: IncomingMessage, host: string): void {
  if (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`) return;
  throw new HttpRefusal(
    "forbidden",
    "the request comes from a page of another site: only pages of this server may call it",
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
