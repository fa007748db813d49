/** The OAuth redirect target: one page on loopback, open only during the login. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { deferred, ServerConnections } from "../../stdx/index.ts";
import { isSameIssuer, quoteShort } from "./addresses.ts";
import { LoginFailure } from "./failure.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";
/** The oldest connection is closed for a new one, so that silent clients cannot block the browser. */
const LIMITS = { unauthenticated: 16, authenticated: 0 };

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Resolves with the query of the first request that has the state of this login. Never rejects. */
  readonly received: Promise<URLSearchParams>;
}

/**
 * Returns undefined if the port is in use. Port 0 selects a free one. Any program and any page on this machine can call
 * the address, so requests without the secret state of this login are ignored.
 */
export async function listenForCallback(port: number, state: string): Promise<Callback | undefined> {
  const http = createServer();
  new ServerConnections(LIMITS).watch(http);
  if (!(await tryListen(http, port))) return undefined;
  const authority = `${HOST}:${(http.address() as AddressInfo).port}`;
  const received = deferred<URLSearchParams>();
  const pages = new Set<Promise<void>>();
  http.on("request", (request, response) => {
    const page = answerCallback(request, response, { authority, state }, (query) => received.resolve(query)).finally(
      () => pages.delete(page),
    );
    pages.add(page);
  });
  return {
    redirectUrl: `http://${authority}${PATH}`,
    received: received.promise,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
      await Promise.all(pages); // until the browser has received the page
      http.closeAllConnections();
      await closed;
    },
  };
}

export interface ExpectedIssuer {
  readonly issuer: string | undefined;
  /** The server always sends its issuer (RFC 9207). */
  readonly namesIssuer: boolean;
}

/** Returns the authorization code. Throws `LoginFailure` if the issuer is wrong or the server refused. */
export function readAuthorizationCode(query: URLSearchParams, { issuer, namesIssuer }: ExpectedIssuer): string {
  const named = query.get("iss");
  if (issuer !== undefined && (named === null ? namesIssuer : !isSameIssuer(named, issuer))) {
    throw new LoginFailure(`the callback came from another issuer: ${quoteShort(named ?? "none")}`);
  }
  const error = query.get("error");
  if (error !== null) {
    const description = query.get("error_description");
    throw new LoginFailure(
      `the server refused the login: ${quoteShort(error)}${description === null ? "" : ` ${quoteShort(description)}`}`,
    );
  }
  const code = query.get("code");
  if (code === null || code === "") throw new LoginFailure("the callback has no code");
  return code;
}

async function tryListen(http: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(error);
    });
    http.listen(port, HOST, () => resolve(true));
  });
}

async function answerCallback(
  request: IncomingMessage,
  response: ServerResponse,
  { authority, state }: { readonly authority: string; readonly state: string },
  received: (query: URLSearchParams) => void,
): Promise<void> {
  const url = URL.canParse(request.url ?? "", `http://${authority}`)
    ? new URL(request.url ?? "", `http://${authority}`)
    : undefined;
  const isOurs = request.method === "GET" && url?.pathname === PATH && request.headers.host === authority;
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", connection: "close" };
  const hasState = isOurs && isSameSecret(url.searchParams.get("state") ?? "", state);
  response.writeHead(hasState ? 200 : isOurs ? 400 : 404, { ...headers, "referrer-policy": "no-referrer" });
  const sent = new Promise<void>((resolve) => void response.once("close", resolve));
  response.end(hasState ? PAGE : isOurs ? WRONG_STATE : "");
  if (hasState) received(url.searchParams);
  await sent;
}

/** Compares digests, so that the time does not depend on the input. */
function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const WRONG_STATE = `<!doctype html><meta charset="utf-8"><title>Rookery</title><p>This request does not belong to the login that Rookery is waiting for. Open the login page again from Rookery.</p>\n`;

/** Does not report the outcome: the program that started the login does. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Rookery</title><p>You can close this page and return to Rookery.</p>\n`;
