/**
 * Signing in to the page: a cookie and a key, which are valid only together. A browser sends cookies to every port of a
 * host, and so to a server of another user on this machine; the key is in the page's storage, which is separate for each
 * port. Both are derived from the bearer token, so they are valid after a restart, and until the token is replaced.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { tokensEqual } from "../token.ts";

const LIFETIME_SECONDS = 30 * 86_400;
export const PAGE_KEY_HEADER = "x-rookery-page-key";

export interface SignInRules {
  readonly token: string;
  /** The port in the name of the cookie, so that the servers of two home directories do not replace each other's. */
  readonly port: number;
  /** Whether browsers reach the server through https. */
  readonly isSecure: boolean;
}

export interface SignIn {
  /** The value of the `Set-Cookie` header. */
  readonly cookie: string;
  readonly key: string;
}

export function makeSignIn({ token, port, isSecure }: SignInRules, now = Date.now()): SignIn {
  const id = `${randomBytes(12).toString("base64url")}.${Math.floor(now / 1000) + LIFETIME_SECONDS}`;
  const attributes = `Path=/; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return {
    cookie: `${cookieName(port)}=${id}.${sign(token, "cookie", id)}; ${attributes}`,
    key: sign(token, "key", id),
  };
}

/** A `Set-Cookie` header that deletes the cookie. */
export function makeSignOut({ port }: Pick<SignInRules, "port">): string {
  return `${cookieName(port)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;
}

/** Whether the request has a valid cookie and the key that belongs to it. */
export function isSignedIn(
  { headers }: Pick<IncomingMessage, "headers">,
  { token, port }: Pick<SignInRules, "token" | "port">,
  now = Date.now(),
): boolean {
  const key = headers[PAGE_KEY_HEADER];
  const cookie = readCookie(headers.cookie ?? "", cookieName(port));
  const [, id = "", expiry = "0", signature = ""] = /^([\w-]+\.(\d{1,12}))\.([\w-]+)$/.exec(cookie ?? "") ?? [];
  if (id === "" || typeof key !== "string" || Number(expiry) * 1000 <= now) return false;
  return tokensEqual(signature, sign(token, "cookie", id)) && tokensEqual(key, sign(token, "key", id));
}

function cookieName(port: number): string {
  return `rookery_${port}`;
}

function readCookie(header: string, name: string): string | undefined {
  const found = header.split(";").find((pair) => pair.trimStart().startsWith(`${name}=`));
  return found?.trim().slice(name.length + 1);
}

function sign(token: string, purpose: "cookie" | "key", id: string): string {
  return createHmac("sha256", token).update(`rookery page ${purpose} ${id}`).digest("base64url");
}
