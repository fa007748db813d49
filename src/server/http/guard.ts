/** Who may speak to the door at all: by the Host they call, the Origin they come from and the token they carry. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { RookeryError } from "../../domain/index.ts";
import { Refusal } from "./problem.ts";
import { isToken } from "./token.ts";

export interface Guarded {
  readonly token: string;
  /** What the door was told to listen on. */
  readonly host: string;
  /** More names by which it may be called. */
  readonly allowHosts: readonly string[];
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
/** Nothing of anyone's is said there. */
const OPEN = ["/", "/v1/health"];

/** Returns whether the request carries the token: some paths need none. Throws what to answer. */
export function guard(request: IncomingMessage, path: string, guarded: Guarded): boolean {
  const host = refuseForeignHost(request, guarded);
  refuseForeignOrigin(request, host);
  const known = carriesToken(request, guarded.token);
  if (!known && !OPEN.includes(path)) throw missing(request);
  return known;
}

/** Throws `unauthorized` where it carries another one. */
export function carriesToken({ headers }: IncomingMessage, token: string): boolean {
  const { authorization } = headers;
  if (authorization === undefined) return false;
  const given = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (given !== undefined && isToken(given, token)) return true;
  throw new RookeryError("unauthorized", "the token is not this server's: it is in the file `token` of its home");
}

function missing({ url = "" }: IncomingMessage): RookeryError {
  const misplaced = /[?&](?:access_)?token=/.test(url)
    ? "; in the address it would end up in logs, so it is not read"
    : "";
  return new RookeryError("unauthorized", `send the header Authorization: Bearer TOKEN${misplaced}`);
}

/** A page of another site can give its name our address; it cannot give itself our name. */
function refuseForeignHost(request: IncomingMessage, { host: bound, allowHosts }: Guarded): string {
  const hosts = request.headersDistinct.host ?? [];
  const [host] = hosts;
  if (host === undefined || hosts.length > 1) throw new Refusal("malformed", "send exactly one Host header");
  const name = nameOf(host);
  if (name === undefined) throw new Refusal("malformed", "the Host header is not a host");
  if (
    LOOPBACK.includes(name) ||
    name === bracketed(bound) ||
    allowHosts.some((other) => nameOf(bracketed(other)) === name)
  )
    return host;
  if (isAny(bound) && name === bracketed(localAddress(request))) return host;
  throw new Refusal("forbidden", `this server does not answer to ${name}: allow it with --allow-host ${name}`);
}

function refuseForeignOrigin({ headers: { origin } }: IncomingMessage, host: string): void {
  if (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`) return;
  throw new Refusal("forbidden", "pages of other sites may not use this server");
}

/** Without its port; undefined where it is none. */
function nameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, "");
}

function isAny(bound: string): boolean {
  return bound === "0.0.0.0" || bound === "::";
}

function localAddress({ socket }: IncomingMessage): string {
  return (socket.localAddress ?? "").replace(/^::ffff:/, "");
}

/** As it stands in a Host header. */
export function bracketed(host: string): string {
  return (isIP(host) === 6 ? `[${host}]` : host).toLowerCase();
}
