/** Responds to requests for the page: its files, the paths of its screens, and links that sign in. */
import type { IncomingMessage } from "node:http";
import { readPageFiles, type PageFile, type PageFiles } from "./files.ts";
import { findPeerUser } from "./peer-user.ts";
import { makeSignIn, type SignInRules } from "./sign-in.ts";
import type { Tickets } from "./tickets.ts";

export interface PageOptions {
  readonly tickets: Tickets;
  readonly token: string;
  readonly isSecure: boolean;
  /** Whether browsers reach the server through a proxy, which may run as another user. */
  readonly isProxied: boolean;
}

/** Paths that show a screen of the page. `web/src/routes.ts` has the screens. */
const SCREENS =
  /^\/(?:(?:board|inbox|usage|agents|activity|sign-in)|(?:session|task)\/[\w.-]{1,200}(?:\/[a-z]{1,20})?)?$/;
const ASSETS =
  /^\/(?:assets\/[\w.-]{1,200}|icon(?:-[a-z0-9-]{1,30})?\.(?:svg|png)|manifest\.webmanifest|feed-worker\.js)$/;

/** These paths need no token: they contain nothing but the program of the page, which is public. */
export function isPagePath(path: string): boolean {
  return SCREENS.test(path) || ASSETS.test(path);
}

const SECURITY_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export class PageResponder {
  readonly #options: PageOptions;
  #files: Promise<PageFiles> | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** Only for GET and HEAD requests with a path that `isPagePath` accepts. */
  async respond(request: IncomingMessage, url: URL): Promise<Response> {
    if (url.pathname === "/sign-in") return this.#signIn(request, url);
    return this.#sendFile(request, SCREENS.test(url.pathname) ? "/index.html" : url.pathname);
  }

  /** A browser that loads links in advance must not use up the ticket. */
  async #signIn(request: IncomingMessage, url: URL): Promise<Response> {
    const isVisit = request.method === "GET" && request.headers["sec-purpose"] === undefined;
    const { tickets, token, isSecure, isProxied } = this.#options;
    const isAllowed = isVisit && (isProxied || (await isOwnUser(request)));
    if (!isAllowed || !tickets.use(url.searchParams.get("ticket") ?? "")) {
      return this.#sendFile(request, "/index.html", 401); // the page says how to get a new link
    }
    const rules: SignInRules = { token, isSecure, port: request.socket.localPort ?? 0 };
    const { cookie, key } = makeSignIn(rules);
    const headers = {
      ...SECURITY_HEADERS,
      "cache-control": "no-store",
      location: `/#key=${key}`,
      "set-cookie": cookie,
    };
    return new Response(null, { status: 303, headers });
  }

  async #sendFile(request: IncomingMessage, path: string, status = 200): Promise<Response> {
    this.#files ??= readPageFiles();
    const file = (await this.#files).get(path);
    if (file === undefined) return new Response(null, { status: 404, headers: SECURITY_HEADERS });
    const headers = new Headers({ ...SECURITY_HEADERS, ...describeFile(file) });
    if (status === 200 && request.headers["if-none-match"] === file.etag) {
      return new Response(null, { status: 304, headers });
    }
    const isGzip = file.gzipped !== undefined && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
    const body = isGzip ? file.gzipped : file.bytes;
    if (isGzip) headers.set("content-encoding", "gzip");
    headers.set("content-length", String(body.length));
    return new Response(request.method === "HEAD" ? null : new Uint8Array(body), { status, headers });
  }
}

async function isOwnUser({ socket }: IncomingMessage): Promise<boolean> {
  const [peer, own] = [await findPeerUser(socket), process.getuid?.()];
  return peer === undefined || own === undefined || peer === own || peer === 0;
}

function describeFile({ type, etag, isImmutable }: PageFile): Record<string, string> {
  const caching = isImmutable ? "public, max-age=31536000, immutable" : "no-cache";
  return { "content-type": type, "cache-control": caching, etag, vary: "accept-encoding" };
}
