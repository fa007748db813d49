/** Where the browser comes back to after a login: one page on loopback, open for as long as the login takes. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { deferred, ServerConnections } from "../../stdx/index.ts";
import { isSameIssuer, shown } from "./addresses.ts";
import { LoginFailure } from "./failure.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";
/** Of these the oldest is closed for the next one, so that nobody who connects and falls silent keeps the browser out. */
const LIMITS = { unauthenticated: 16, authenticated: 0 };

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** The query of the first request that has the state of this login. Never rejects, and stays pending without one. */
  readonly came: Promise<URLSearchParams>;
}

/**
 * Undefined if the port is taken; port 0 is a free one. Any program and any page on this machine can call the address,
 * so a request without the state, a secret of this login, changes nothing.
 */
export async function listenForCallback(port: number, state: string): Promise<Callback | undefined> {
  const http = createServer();
  new ServerConnections(LIMITS).watch(http);
  if (!(await listening(http, port))) return undefined;
  const authority = `${HOST}:${(http.address() as AddressInfo).port}`;
  const came = deferred<URLSearchParams>();
  const pages = new Set<Promise<void>>();
  http.on("request", (request, response) => {
    const page = answer(request, response, { authority, state }, (query) => came.resolve(query)).finally(() =>
      pages.delete(page),
    );
    pages.add(page);
  });
  return {
    redirectUrl: `http://${authority}${PATH}`,
    came: came.promise,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
      await Promise.all(pages); // the person sees the page that says that this is over
      http.closeAllConnections();
      await closed;
    },
  };
}

export interface Expected {
  readonly issuer: string | undefined;
  /** The server says that it always names itself (RFC 9207). */
  readonly namesIssuer: boolean;
}

/** The code that came back. Throws `LoginFailure` if it is of another issuer, or the server refused. */
export function codeOf(query: URLSearchParams, { issuer, namesIssuer }: Expected): string {
  const named = query.get("iss");
  if (issuer !== undefined && (named === null ? namesIssuer : !isSameIssuer(named, issuer))) {
    throw new LoginFailure(`the callback is of another issuer: ${shown(named ?? "none")}`);
  }
  const error = query.get("error");
  if (error !== null) {
    const description = query.get("error_description");
    throw new LoginFailure(`it refused: ${shown(error)}${description === null ? "" : ` ${shown(description)}`}`);
  }
  const code = query.get("code");
  if (code === null || code === "") throw new LoginFailure("the callback brought no code");
  return code;
}

async function listening(http: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(error);
    });
    http.listen(port, HOST, () => resolve(true));
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { authority, state }: { readonly authority: string; readonly state: string },
  came: (query: URLSearchParams) => void,
): Promise<void> {
  const url = URL.canParse(request.url ?? "", `http://${authority}`)
    ? new URL(request.url ?? "", `http://${authority}`)
    : undefined;
  const isOurs = request.method === "GET" && url?.pathname === PATH && request.headers.host === authority;
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", connection: "close" };
  const hasState = isOurs && isSame(url.searchParams.get("state") ?? "", state);
  response.writeHead(hasState ? 200 : isOurs ? 400 : 404, { ...headers, "referrer-policy": "no-referrer" });
  const sent = new Promise<void>((resolve) => void response.once("close", resolve));
  response.end(hasState ? PAGE : isOurs ? WRONG_STATE : "");
  if (hasState) came(url.searchParams);
  await sent;
}

/** Of equal length whatever came, so that the time it takes tells nothing. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const WRONG_STATE = `<!doctype html><meta charset="utf-8"><title>Rookery</title><p>This is not the answer to the login that Rookery waits for. Open the login page again from Rookery.</p>\n`;

/** Says nothing of how it went: that is told where the login was asked for. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Rookery</title><p>You can close this page and go back to Rookery.</p>\n`;
